import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { parseCredential } from './auth/authorization.js';
import { fingerprintOf, subjectTenantOf, tokenFingerprintOf } from './auth/identify.js';
import type { Options, TENANT_ACTIONS } from './command-line.js';
import type { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { type ControlDbOptions, describeControlDb, fromAnywhere, parseControlDbUrl } from './config/control-db-url.js';
import * as kind from './config/kinds.js';
import { ControlDatabaseService } from './control-db/control-database.service.js';
import { DatabaseError, errorCode } from './control-db/database-error.js';
import { SHOWN_TENANT_DIGITS, shownTenant, TENANT_DIGITS } from './request/shown-tenant.js';
import { TenantLimitRepository } from './tenant-limits/tenant-limit.repository.js';
import type { NamedTenantLimit, TenantLimit } from './tenant-limits/tenant-limits.js';
import { TenantLimitsModule } from './tenant-limits/tenant-limits.module.js';
import { isSubject } from './tidb-cloud/subject.js';

const EXIT = { clean: 0, unavailable: 1, misused: 78 } as const;
const CONNECT_MS = 10_000;
const POLL_MS = 50;

type Action = (typeof TENANT_ACTIONS)[number];

/** Whom the command line names. */
interface Named {
  /** A fingerprint, or the first digits of one that the database has to know. */
  readonly digits: string;
  /** What standard input was read as. */
  readonly takenFor?: string;
}

/** A mistake on the command line; its message is the whole answer. */
class Misuse extends Error {}

/** The servers' database is not here; the message is the whole answer. */
class NoDatabase extends Error {}

const FINGERPRINT = new RegExp(`^[0-9a-f]{${SHOWN_TENANT_DIGITS},${TENANT_DIGITS}}$`);

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
    const change = readChange(action, options);
    const named = action === 'list' ? undefined : await readNamed(options, config);
    const database = requireDatabase(config);
    const app = await NestFactory.createApplicationContext(TenantsModule.forRoot(config), { logger: false });
    try {
      await connect(app.get(ControlDatabaseService));
      const repository = app.get(TenantLimitRepository);
      const fingerprint = named === undefined ? '' : await wholeFingerprint(named.digits, database, repository);
      const answer = await perform(action, fingerprint, change, database, repository);
      process.stdout.write(answer + takenFor(named, fingerprint));
    } finally {
      await app.close();
    }
    return EXIT.clean;
  } catch (error) {
    const said = error instanceof Misuse || error instanceof NoDatabase;
    process.stderr.write(`${said ? error.message : unusable(action, config, error)}\n`);
    return error instanceof Misuse ? EXIT.misused : EXIT.unavailable;
  }
}

function locate(config: Config): ControlDbOptions {
  const parsed = parseControlDbUrl(config.controlDbUrl);
  if (!parsed.ok) throw new Misuse(`The control database's URL ${parsed.message}.`);
  return fromAnywhere(parsed.options);
}

/** A file that opening it would create is no database of running servers. */
function requireDatabase(config: Config): string {
  const options = locate(config);
  const database = describeControlDb(options);
  if (options.dialect !== 'sqlite') return database;
  if (options.path === ':memory:')
    throw new Misuse('A database in memory keeps no tenant: set TIDB_MCP_CONTROL_DB_URL.');
  if (existsSync(options.path)) return database;
  const unset = config.declared.includes('controlDbUrl') ? '' : ', which is not set here';
  throw new NoDatabase(
    `The control database ${database} does not exist, and none was created: ` +
      `tenants needs the servers' own TIDB_MCP_CONTROL_DB_URL${unset}.`,
  );
}

function unusable(action: Action, config: Config, error: unknown): string {
  const { advice } = error as { advice?: unknown };
  const told = typeof advice === 'string' ? ` ${advice}` : '';
  const isUnknown = error instanceof DatabaseError && error.outcome === 'unknown';
  const kept = isUnknown ? '; the change may be stored all the same' : '; nothing was changed';
  const outcome = action === 'list' || action === 'show' ? '' : kept;
  return `The control database ${describeControlDb(locate(config))} could not be used (${errorCode(error)})${outcome}.${told}`;
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

async function readNamed(options: Options, config: Config): Promise<Named> {
  const { fingerprint, subject } = options;
  const named = [fingerprint, subject, options['key-stdin'] === true ? '' : undefined];
  if (named.filter((name) => name !== undefined).length !== 1)
    throw new Misuse('Name the tenant by --fingerprint, by --key-stdin or by --subject, one of the three.');
  const { oauthUserinfoUrl } = config;
  if (subject !== undefined) {
    if (!isSubject(subject)) throw new Misuse('--subject takes the sub itself, 1 to 255 characters.');
    if (oauthUserinfoUrl !== undefined) return { digits: subjectTenantOf(oauthUserinfoUrl, subject) };
    throw new Misuse('--subject needs the TIDB_MCP_OAUTH_USERINFO_URL of the servers.');
  }
  if (fingerprint !== undefined) {
    if (FINGERPRINT.test(fingerprint)) return { digits: fingerprint };
    throw new Misuse(
      `--fingerprint takes ${TENANT_DIGITS} lower-case hex digits, or at least the first ${SHOWN_TENANT_DIGITS} ` +
        'of a tenant that the control database knows.',
    );
  }
  return readCredential(await text(process.stdin), config);
}

function readCredential(input: string, { v1Tokens, oauthUserinfoUrl }: Config): Named {
  const given = input.trim();
  if (v1Tokens.includes(given)) return { digits: tokenFingerprintOf(given), takenFor: 'a shared token' };
  const credential = parseCredential({ scheme: 'bearer', text: given });
  if (credential === undefined)
    throw new Misuse('Standard input holds no credential: public:private or a token is expected.');
  const digits = fingerprintOf(credential);
  if (credential.kind === 'api-key') return { digits, takenFor: 'an API key' };
  if (oauthUserinfoUrl !== undefined)
    throw new Misuse('With TIDB_MCP_OAUTH_USERINFO_URL a token is counted under its subject: use --subject.');
  return { digits, takenFor: 'an OAuth token (an API key is public:private)' };
}

function takenFor(named: Named | undefined, fingerprint: string): string {
  if (named?.takenFor === undefined) return '';
  return `Standard input was taken for ${named.takenFor}, fingerprint ${shownTenant(fingerprint)}.\n`;
}

async function wholeFingerprint(digits: string, database: string, repository: TenantLimitRepository): Promise<string> {
  if (digits.length === TENANT_DIGITS) return digits;
  const [found, ...others] = await repository.knownTenants(digits);
  if (found === undefined)
    throw new Misuse(
      `No fingerprint that ${database} knows begins with ${digits}. A tenant is known there within one flush ` +
        'interval of its first call; before, only --key-stdin, --subject or the whole fingerprint names it.',
    );
  if (others.length === 0) return found;
  throw new Misuse(`${others.length + 1} fingerprints that ${database} knows begin with ${digits}: give more digits.`);
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
  database: string,
  repository: TenantLimitRepository,
): Promise<string> {
  switch (action) {
    case 'list': {
      const all = await repository.list();
      if (all.length === 0) return `No tenant has limits of its own in ${database}.\n`;
      return `${all.map(line).join('')}In ${database}.\n`;
    }
    case 'show': {
      const found = await repository.find(fingerprint);
      return `${found === undefined ? `${fingerprint}  as everybody\n` : line(found)}In ${database}.\n`;
    }
    case 'set': {
      const stored = line(await repository.set(fingerprint, change, Date.now()));
      return `${stored}Stored in ${database}: in force within one flush interval at the servers that use it.\n`;
    }
    case 'clear':
      return (await repository.clear(fingerprint))
        ? `${fingerprint}  as everybody, within one flush interval at the servers that use ${database}\n`
        : `${fingerprint}  had no limits of its own in ${database}\n`;
  }
}

function line({ fingerprint, requestsPerSecond, burst, callsPerUtcDay }: NamedTenantLimit): string {
  const shown = (value: number | undefined): string => (value === undefined ? 'default' : String(value));
  return `${fingerprint}  rps ${shown(requestsPerSecond)}  burst ${shown(burst)}  daily-quota ${shown(callsPerUtcDay)}\n`;
}
