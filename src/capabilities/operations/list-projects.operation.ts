import { z } from 'zod';
import { listProjects } from '../../tidb-cloud/endpoints.js';
import { nextPage, page, pageFields, unlessEmpty } from '../input-fields.js';
import { defineOperation, READS_TIDB_CLOUD } from '../operation.js';
import { maybe, upstreamId, upstreamInteger, upstreamText } from '../upstream-fields.js';

const project = z
  .object({
    projectId: z.string(),
    displayName: z.string().optional(),
    organizationId: z.string().optional(),
    clusterCount: z.number().int().optional().describe('Clusters in the project.'),
    createTime: z.string().optional().describe('When it was created, ISO 8601.'),
  })
  .meta({ title: 'Project' });

const answer = z.object({
  projects: z
    .array(
      z.object({
        id: upstreamId,
        name: maybe(upstreamText),
        org_id: maybe(upstreamId),
        cluster_count: maybe(upstreamInteger),
        create_timestamp: maybe(upstreamInteger),
      }),
    )
    .nullish(),
  nextPageToken: maybe(z.string()),
});

/** The projects of the organization that the credential belongs to, from TiDB Cloud's IAM API. */
export const listProjectsOperation = defineOperation({
  name: 'list_projects',
  title: 'List projects',
  description:
    'Lists the projects of the organization that the credential belongs to. Clusters belong to projects: use `projectId` in the filter of the list of clusters.',
  input: z.strictObject(pageFields),
  output: page(project, 'Projects of this page.'),
  annotations: READS_TIDB_CLOUD,
  route: { method: 'GET', path: '/projects', operationId: 'listProjects', tag: 'Projects' },
  example: {
    input: { pageSize: 2 },
    output: {
      items: [
        {
          projectId: '1372813089454525346',
          displayName: 'Shop',
          organizationId: '1372813089187041280',
          clusterCount: 2,
          createTime: '2026-03-01T08:30:00.000Z',
        },
      ],
    },
  },
  async run(context, { pageSize, pageToken }) {
    const { projects, nextPageToken } = await context.ask(
      listProjects({ pageSize, pageToken: unlessEmpty(pageToken) }),
      answer,
    );
    const items = (projects ?? []).map((found) => ({
      projectId: found.id,
      displayName: found.name,
      organizationId: found.org_id,
      clusterCount: found.cluster_count,
      createTime: isoFromSeconds(found.create_timestamp),
    }));
    return { items, ...nextPage(nextPageToken) };
  },
});

/** The last second that a date can name. */
const LAST_SECOND = 8_640_000_000_000;

function isoFromSeconds(seconds: number | undefined): string | undefined {
  if (seconds === undefined || Math.abs(seconds) > LAST_SECOND) return undefined;
  return new Date(seconds * 1000).toISOString();
}
