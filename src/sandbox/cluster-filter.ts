import { invalidArgument } from './api-error.js';
import type { Cluster } from './resources.js';

const TERM = /\s*([A-Za-z][\w.\-/]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))\s*/y;
const AND = /AND\s+/y;

const FIELDS: Readonly<Record<string, (cluster: Cluster) => string>> = {
  'region.provider': (cluster) => cluster.region.provider,
  'region.name': (cluster) => cluster.region.name,
  state: (cluster) => cluster.state,
  projectId: (cluster) => cluster.labels['tidb.cloud/project'] ?? '',
  clusterId: (cluster) => cluster.clusterId,
  displayName: (cluster) => cluster.displayName,
};

/** The fields that take several values, separated by commas. */
const LISTS: ReadonlySet<string> = new Set(['projectId', 'clusterId']);

/**
 * The predicate of a `filter` expression: `=` terms joined by `AND`, over the fields that TiDB Cloud's document names.
 * Throws an ApiError (400) for anything else.
 */
export function clusterFilter(expression: string): (cluster: Cluster) => boolean {
  const tests: ((cluster: Cluster) => boolean)[] = [];
  let position = 0;
  for (;;) {
    TERM.lastIndex = position;
    const term = TERM.exec(expression);
    if (term === null) throw invalidArgument('filter cannot be parsed');
    tests.push(termTest(term[1] ?? '', term[2]?.replaceAll(/\\(.)/g, '$1') ?? term[3] ?? ''));
    position = TERM.lastIndex;
    if (position === expression.length) return (cluster) => tests.every((test) => test(cluster));
    AND.lastIndex = position;
    if (AND.exec(expression) === null) throw invalidArgument('filter cannot be parsed');
    position = AND.lastIndex;
  }
}

function termTest(field: string, value: string): (cluster: Cluster) => boolean {
  if (field.startsWith('labels.')) {
    const label = field.slice('labels.'.length);
    return (cluster) => cluster.labels[label] === value;
  }
  const read = FIELDS[field];
  if (read === undefined) throw invalidArgument(`filter does not know the field ${field}`);
  const values = LISTS.has(field) ? value.split(',') : [value];
  return (cluster) => values.includes(read(cluster));
}
