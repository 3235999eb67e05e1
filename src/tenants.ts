import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { parseCredential } from './auth/authorization.js';
import { fingerprintOf, subjectTenantOf, tokenFingerprintOf } from './auth/identify.js';
import type { Options, TENANT_ACTIONS } from './command-line.js';
import type { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import * as kind from './config/kinds.js';
import { ControlDatabaseService } from './control-db/control-database.service.js';
import { errorCode } from './control-db/database-error.js';
import { TenantLimitRepository } from './tenant-limits/tenant-limit.repository.js';
import type { NamedTenantLimit, TenantLimit } from './tenant-limits/tenant-limits.js';
import { TenantLimitsModule } from './tenant-limits/tenant-limits.module.js';

const EXIT = { clean: 0, unavailable: 1, misused: 78 } as const;
const CONNECT_MS = 10_000;
const POLL_MS = 50;

type Action = (typeof TENANT_ACTIONS)[number];

/** A mistake on the command line; its message is the whole answer. */
class Misuse extends Error {}

@Module({})
class TenantsModule {
  static forRoot(config: Config): DynamicModule {
    return { module: TenantsModule, imports: [ConfigModule.forRoot(config), TenantLimitsModule] };
  }
}

/**
 * Lists, shows, sets or clears tenants' own limits in the control database; servers pick a change up within one flush
 * interval. Contract: "Tenants' overrides" of the operator's commands.
 * @returns the exit status
 */
export async function manageTenants(action: Action, options: Options, config: Config): Promise<number> {
  try {
    if (config.controlDbUrl === 'sqlite::memory:')
      throw new Misuse('A database in memory keeps no tenant: set TIDB_MCP_CONTROL_DB_URL.');
    const change = readChange(action, options);
    const fingerprint = action === 'list' ? '' : await readFingerprint(options, config);
    const app = await NestFactory.createApplicationContext(TenantsModule.forRoot(config), { logger: false });
    try {
      await connect(app.get(ControlDatabaseService));
      process.stdout.write(await perform(action, fingerprint, change, app.get(TenantLimitRepository)));
    } finally {
      await app.close();
    }
    return EXIT.clean;
  } catch (error) {
    if (error instanceof Misuse) {
      process.stderr.write(`${error.message}\n`);
      return EXIT.misused;
    }
    const { advice } = error as { advice?: unknown };
    const told = typeof advice === 'string' ? ` ${advice}` : '';
    process.stderr.write(`The control database could not be used (${errorCode(error)}); nothing was changed.${told}\n`);
    return EXIT.unavailable;
  }
}

function readChange(action: Action, options: Options): Partial<TenantLimit> {
  const change = {
    requestsPerSecond: readNumber('--rps', options.rps, kind.rate),
    burst: readNumber('--burst', options.burst, kind.burst),
    callsPerUtcDay: readNumber('--daily-quota', options['daily-quota'], kind.dailyQuota),
  };
  const isGiven = Object.values(change).some((value) => value !== undefined);
  if (action === 'set' && !isGiven) throw new Misuse('tenants set needs --rps, --burst or --daily-quota.');
  if (action !== 'set' && isGiven) throw new Misuse(`tenants ${action} takes no --rps, --burst or --daily-quota.`);
  return change;
}

function readNumber(
  name: string,
  value: string | undefined,
  of: typeof kind.rate | typeof kind.burst,
): number | undefined {
  if (value === undefined) return undefined;
  const read = of.type.safeParse(value);
  if (read.success) return read.data;
  throw new Misuse(`${name} ${value}: ${read.error.issues[0]?.message ?? 'is wrong'}, allowed: ${of.allowed}`);
}

async function readFingerprint(options: Options, config: Config): Promise<string> {
  const { fingerprint, subject } = options;
  const named = [fingerprint, subject, options['key-stdin'] === true ? '' : undefined];
  if (named.filter((name) => name !== undefined).length !== 1)
    throw new Misuse('Name the tenant by --fingerprint, by --key-stdin or by --subject, one of the three.');
  const { oauthUserinfoUrl } = config;
  if (subject !== undefined) {
    if (oauthUserinfoUrl !== undefined) return subjectTenantOf(oauthUserinfoUrl, subject);
    throw new Misuse('--subject needs the TIDB_MCP_OAUTH_USERINFO_URL of the servers.');
  }
  if (fingerprint !== undefined) {
    if (/^[0-9a-f]{64}$/.test(fingerprint)) return fingerprint;
    throw new Misuse('--fingerprint takes the whole fingerprint: 64 lower-case hex digits.');
  }
  const given = (await text(process.stdin)).trim();
  if (config.v1Tokens.includes(given)) return tokenFingerprintOf(given);
  const credential = parseCredential({ scheme: 'bearer', text: given });
  if (credential === undefined)
    throw new Misuse('Standard input holds no credential: public:private or a token is expected.');
  if (credential.kind === 'oauth' && oauthUserinfoUrl !== undefined)
    throw new Misuse('With TIDB_MCP_OAUTH_USERINFO_URL a token is counted under its subject: use --subject.');
  return fingerprintOf(credential);
}

async function connect(database: ControlDatabaseService): Promise<void> {
  let failure: { code: string; advice?: string | undefined } = { code: 'TIMEOUT' };
  database.listen({ connectFailed: (code, advice) => (failure = { code, advice }) });
  database.open();
  for (let waitedMs = 0; !database.isConnected; waitedMs += POLL_MS) {
    if (waitedMs >= CONNECT_MS) throw Object.assign(new Error('not connected'), failure);
    await pause(POLL_MS);
  }
}

async function perform(
  action: Action,
  fingerprint: string,
  change: Partial<TenantLimit>,
  repository: TenantLimitRepository,
): Promise<string> {
  switch (action) {
    case 'list': {
      const all = await repository.list();
      return all.length === 0 ? 'No tenant has limits of its own.\n' : all.map(line).join('');
    }
    case 'show': {
      const found = await repository.find(fingerprint);
      return found === undefined ? `${fingerprint}  as everybody\n` : line(found);
    }
    case 'set':
      return `${line(await repository.set(fingerprint, change, Date.now()))}In force within one flush interval.\n`;
    case 'clear':
      return (await repository.clear(fingerprint))
        ? `${fingerprint}  as everybody, within one flush interval\n`
        : `${fingerprint}  had no limits of its own\n`;
  }
}

function line({ fingerprint, requestsPerSecond, burst, callsPerUtcDay }: NamedTenantLimit): string {
  const shown = (value: number | undefined): string => (value === undefined ? 'default' : String(value));
  return `${fingerprint}  rps ${shown(requestsPerSecond)}  burst ${shown(burst)}  daily-quota ${shown(callsPerUtcDay)}\n`;
}
