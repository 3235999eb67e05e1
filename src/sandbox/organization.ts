import { createHash } from 'node:crypto';
import type { Clock } from '../clock/clock.js';
import { Lifecycle } from './lifecycle.js';
import type { Backup, Branch, BranchState, Cluster, ClusterState, Endpoints } from './resources.js';

/** A project's fixed part; its counts are taken when it is read. */
export interface ProjectSeed {
  readonly id: string;
  readonly name: string;
  readonly userCount: number;
  readonly createTimestamp: string;
}

/** How long the sandbox takes for what takes TiDB Cloud minutes. */
export interface Durations {
  /** Creating, restoring, resetting and deleting. */
  readonly provisioningMs: number;
}

/** Everything that one API key can see. */
export class Organization {
  readonly clusters: Lifecycle<ClusterState, Cluster>;
  readonly branches: Lifecycle<BranchState, Branch>;
  readonly backups = new Map<string, Backup>();
  readonly projects: ProjectSeed[] = [];
  private issued = 0;

  constructor(
    readonly id: string,
    readonly clock: Clock,
    readonly durations: Durations,
  ) {
    this.clusters = new Lifecycle(clock);
    this.branches = new Lifecycle(clock);
  }

  /** Now, as the upstream writes it. */
  timestamp(): string {
    return new Date(this.clock.utcMs()).toISOString();
  }

  /** A new numeric id, the same in every run and unlike any of another organization. */
  newId(): string {
    this.issued += 1;
    const digest = createHash('sha256').update(`${this.id}/${this.issued}`).digest();
    return `10${digest.readBigUInt64BE().toString().padStart(20, '0').slice(-17)}`;
  }

  /** A new branch id in the upstream's form. */
  newBranchId(): string {
    return `bran-${BigInt(this.newId()).toString(36)}`;
  }
}

/** The endpoints of a cluster or branch in a region such as `us-east-1`. */
export function endpointsIn(region: string): Endpoints {
  return {
    public: {
      host: `gateway01.${region}.prod.aws.tidbcloud.example`,
      port: 4000,
      disabled: false,
      authorizedNetworks: [
        { startIpAddress: '0.0.0.0', endIpAddress: '255.255.255.255', displayName: 'Allow_all_public_connections' },
      ],
    },
    private: {
      host: `gateway01-privatelink.${region}.prod.aws.tidbcloud.example`,
      port: 4000,
      aws: {
        serviceName: `com.amazonaws.vpce.${region}.vpce-svc-sandbox`,
        availabilityZone: [`${region}a`, `${region}b`],
      },
    },
  };
}

/** The prefix of a resource's SQL users. */
export function userPrefixOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 15);
}
