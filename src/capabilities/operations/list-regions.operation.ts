import { z } from 'zod';
import { listRegions } from '../../tidb-cloud/endpoints.js';
import { page, pageFields } from '../input-fields.js';
import { defineOperation, READS_TIDB_CLOUD } from '../operation.js';
import { pageOf } from '../page-of.js';
import { maybe, upstreamText } from '../upstream-fields.js';

const region = z
  .object({
    name: z.string().describe('The full name, as creating a cluster takes it.'),
    regionId: z.string().optional(),
    displayName: z.string().optional(),
    cloudProvider: z.string().optional(),
    servicePlans: z.array(z.string()).optional().describe('The service plans that can be had in this region.'),
  })
  .meta({ title: 'Region' });

const answer = z.object({
  regions: z
    .array(
      z.object({
        name: upstreamText,
        regionId: maybe(upstreamText),
        displayName: maybe(upstreamText),
        cloudProvider: maybe(upstreamText),
        servicePlans: maybe(z.array(upstreamText)),
      }),
    )
    .nullish(),
});

/** The regions that a cluster can be created in. TiDB Cloud answers them all at once; the pages are ours. */
export const listRegionsOperation = defineOperation({
  name: 'list_regions',
  title: 'List regions',
  description:
    'Lists the cloud regions in which this organization can create clusters, in the order of their names, optionally of one cloud provider or service plan only.',
  input: z.strictObject({
    ...pageFields,
    cloudProvider: z
      .enum(['aws', 'gcp', 'azure', 'alicloud'])
      .optional()
      .describe('Only the regions of this cloud provider.'),
    servicePlan: z
      .enum(['Starter', 'Essential', 'Premium', 'BYOC'])
      .optional()
      .describe('Only the regions that support this service plan.'),
  }),
  output: page(region, 'Regions of this page.'),
  annotations: READS_TIDB_CLOUD,
  route: { method: 'GET', path: '/regions', operationId: 'listRegions', tag: 'Regions' },
  example: {
    input: { cloudProvider: 'aws' },
    output: {
      items: [
        {
          name: 'regions/aws-us-west-2',
          regionId: 'aws-us-west-2',
          displayName: 'Oregon (us-west-2)',
          cloudProvider: 'aws',
          servicePlans: ['Starter', 'Essential'],
        },
      ],
    },
  },
  async run(context, { pageSize, pageToken, cloudProvider, servicePlan }) {
    const { regions } = await context.ask(listRegions({ cloudProvider, servicePlan }), answer);
    return pageOf(regions ?? [], (found) => found.name, pageSize, pageToken);
  },
});
