import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The name under which the server introduces itself everywhere. */
export const SERVER_NAME = 'tidb-cloud-mcp';

/** The version of this package, read once from its `package.json`. */
export const SERVER_VERSION = manifest.version;
