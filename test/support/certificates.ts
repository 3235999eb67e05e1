import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether certificates can be made here. */
export const OPENSSL = spawnSync('openssl', ['version']).status === 0;

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(...args: string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args.join(' ')}\n${stderr}`);
}

/** A certificate authority made up for a test; its files stay in the test's own folder. */
export class Authority {
  /** The PEM file that whoever trusts it names. */
  readonly ca: string;

  constructor(
    private readonly folder: string,
    private readonly name: string,
  ) {
    this.ca = this.file('ca.pem');
    openssl('req', '-x509', ...NEW_KEY, '-keyout', this.file('ca.key'), '-out', this.ca, '-subj', `/CN=${name}`);
  }

  /** The certificate of a server that is reached by this host name, and its key; another one replaces it. */
  certify(host: string): { ca: string; cert: string; key: string } {
    const [request, names] = [this.file('server.csr'), this.file('names')];
    const files = { ca: this.ca, cert: this.file('server.pem'), key: this.file('server.key') };
    writeFileSync(names, `subjectAltName=DNS:${host}`);
    openssl('req', ...NEW_KEY, '-keyout', files.key, '-out', request, '-subj', `/CN=${host}`);
    const authority = ['-CA', this.ca, '-CAkey', this.file('ca.key'), '-CAcreateserial'];
    openssl('x509', '-req', '-in', request, ...authority, '-out', files.cert, '-extfile', names);
    return files;
  }

  private file(end: string): string {
    return join(this.folder, `${this.name}-${end}`);
  }
}
