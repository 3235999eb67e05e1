import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock/clock.module.js';
import { clusterFilter } from './cluster-filter.js';
import { seedOrganization } from './seed.js';

const ORGANIZATION = seedOrganization('1', systemClock, { provisioningMs: 1000 });
const ALL = ORGANIZATION.clusters.all();
const [FIRST, SECOND] = ALL;
const [PRODUCTION, DEVELOPMENT] = ORGANIZATION.projects.map(({ id }) => id);

function names(expression: string): string[] {
  return ALL.filter(clusterFilter(expression)).map(({ displayName }) => displayName);
}

describe("The sandbox's cluster filter", () => {
  it.each<[string, string[]]>([
    ['displayName=orders-prod', ['orders-prod']],
    ['displayName="orders-prod"', ['orders-prod']],
    [`clusterId=${FIRST?.clusterId},${SECOND?.clusterId}`, ['orders-prod', 'orders-staging']],
    ['state=CREATING', ['sandbox-tests']],
    ['region.provider="gcp"', []],
    ['  displayName = "orders-prod"  AND state = "ACTIVE" ', ['orders-prod']],
    ['displayName="orders-prod" AND state="CREATING"', []],
    ['displayName="say \\"no\\""', []],
  ])('understands %s', (expression, expected) => {
    expect(names(expression)).toEqual(expected);
  });

  it('divides the clusters among projects, labels and regions', () => {
    const production = names(`projectId=${PRODUCTION}`);
    expect(names('labels.environment=production')).toEqual(production);
    expect(production.length + names(`projectId=${DEVELOPMENT}`).length).toBe(25);
    expect(names(`projectId=${PRODUCTION},${DEVELOPMENT}`)).toHaveLength(25);
    expect(names('region.name=regions/aws-us-east-1')).toHaveLength(5);
  });

  it.each([
    '',
    'state',
    'state=',
    'state!=ACTIVE',
    'createdBy=x',
    'state=ACTIVE OR state=CREATING',
    'state="ACTIVE',
    'state=ACTIVE AND ',
  ])('refuses "%s"', (expression) => {
    expect(() => clusterFilter(expression)).toThrow(expect.objectContaining({ status: 400 }));
  });
});
