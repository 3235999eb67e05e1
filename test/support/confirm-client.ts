import { type Answer, ask } from './test-server.js';

/** Preflights and confirms over REST, as one caller. */
export class ConfirmClient {
  constructor(
    private readonly url: string,
    private readonly credential: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  post(path: string, body: unknown): Promise<Answer> {
    return ask(`${this.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.credential}`, 'content-type': 'application/json', ...this.headers },
      body: JSON.stringify(body),
    });
  }

  get(path: string): Promise<Answer> {
    return ask(`${this.url}${path}`, { headers: { authorization: `Bearer ${this.credential}`, ...this.headers } });
  }

  preflight(operation: string, args: unknown): Promise<Answer> {
    return this.post('/v1/preflight', { operation, arguments: args });
  }

  /** A preflight that must succeed; answers its token. */
  async token(operation: string, args: unknown): Promise<string> {
    const answer = await this.preflight(operation, args);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json<{ confirmationToken: string }>().confirmationToken;
  }

  confirm(confirmationToken: string): Promise<Answer> {
    return this.post('/v1/confirm', { confirmationToken });
  }

  /** The id of the nth of the sandbox's clusters. */
  async cluster(n: number): Promise<string> {
    const list = () => this.get('/v1/clusters?pageSize=100');
    let answer = await list();
    // On a busy machine the sandbox may take longer than a test lets TiDB Cloud take.
    for (let tries = 1; answer.status === 503 && tries < 10; tries += 1) answer = await list();
    return answer.json<{ items: { clusterId: string }[] }>().items[n]?.clusterId ?? '';
  }
}
