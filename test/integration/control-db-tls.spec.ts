import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Authority, OPENSSL } from '../support/certificates.js';
import { DATABASE_PROGRAMS, type DatabaseServer } from '../support/database-server.js';
import { call, type QuotaApp, startQuota, tenantName } from '../support/quota-app.js';
import { waitUntil } from '../support/wait-until.js';

const T = tenantName(1);
const SAYS_WHO_TO_TRUST =
  /^warn Connecting to .*localhost.* failed \(\w+\)\. .*not from an authority .* \(sslca=FILE\)/;

describe.each(DATABASE_PROGRAMS)('A control database on $name that is reached over TLS', (program) => {
  const note = program.note || (OPENSSL ? '' : ' (skipped: openssl is not installed)');

  describe.skipIf(note !== '')(`as its certificate says${note}`, () => {
    let server: DatabaseServer;
    let authority: Authority;
    let url: string;
    const running: QuotaApp[] = [];

    const start = async (options: string) => {
      const app = await startQuota({ url: `${url}?${options}`, flushSeconds: 1 });
      running.push(app);
      return app;
    };
    const serveAs = async (host: string) => {
      const files = authority.certify(host);
      for (const file of Object.values(files)) server.own(file);
      await server.start(files);
    };
    const stored = async (app: QuotaApp) => {
      call(app, T, 1);
      await app.flusher.flush();
      return !app.flusher.hasUnsent;
    };
    /** It goes on counting, keeps its counts, and says why in one warning. */
    const servesDegraded = async (app: QuotaApp, warning: RegExp) => {
      await waitUntil('the reason is told', () => app.logLines.some((line) => warning.test(line)));
      expect(app.quota.status(T).persistenceDegraded).toBe(true);
      expect(call(app, T, 3)).toBe(3);
      await waitUntil('it was tried again', () => app.logLines.some((line) => line.includes('Quota persistence')));
      expect(app.logLines.filter((line) => line.startsWith('warn Connecting'))).toHaveLength(1);
      expect(app.database.isConnected).toBe(false);
      await app.kill();
    };

    beforeAll(async () => {
      server = await program.create();
      authority = new Authority(server.folder, 'ours');
      await serveAs('localhost');
      url = (await server.scratch()).url.replace('127.0.0.1', 'localhost');
    }, 90_000);
    afterEach(async () => {
      await Promise.all(running.splice(0).map((app) => app.kill()));
    });
    afterAll(() => server?.remove(), 60_000);

    it('is used where its certificate is from the authority that the URL names', async () => {
      expect(await stored(await start(`sslca=${authority.ca}`))).toBe(true);
    });

    it('is used unverified where the URL asks for no more', async () => {
      expect(await stored(await start('ssl=no-verify'))).toBe(true);
    });

    it('is refused where the certificate is from another authority, and the server serves on and says what to do', async () => {
      const other = new Authority(server.folder, 'theirs');
      await servesDegraded(await start(`sslca=${other.ca}`), SAYS_WHO_TO_TRUST);
      await servesDegraded(await start('ssl=true'), SAYS_WHO_TO_TRUST);
    });

    it('is refused where the certificate is for another host, or where it offers no TLS', async () => {
      await server.crash();
      await serveAs('elsewhere.example');
      await servesDegraded(await start(`sslca=${authority.ca}`), /^warn Connecting .* for another host/);
      await server.crash();
      await server.start();
      await servesDegraded(await start(`sslca=${authority.ca}`), /^warn Connecting .* does not offer TLS/);
    }, 60_000);
  });
});
