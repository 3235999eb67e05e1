import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

/** The project's root, where the tests run. */
export const ROOT = process.cwd();

/** A file under `docker/`. */
export function dockerFile(path: string): string {
  return readFileSync(join(ROOT, 'docker', path), 'utf8');
}

// What a file holds is the test's own claim.
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = any;

/** The documents of a YAML file under `docker/`, with merge keys resolved; a file with a mistake fails. */
export function yamlDocuments(path: string): Loose[] {
  return parseAllDocuments(dockerFile(path), { merge: true }).map((document) => {
    if ('errors' in document && document.errors.length > 0) throw new Error(`${path}: ${document.errors.join('\n')}`);
    return document.toJS();
  });
}

/** Every Kubernetes manifest, by its file's name. */
export function manifests(): Map<string, Loose> {
  const names = readdirSync(join(ROOT, 'docker/kubernetes')).filter((name) => name.endsWith('.yaml'));
  return new Map(names.map((name) => [name, yamlDocuments(`kubernetes/${name}`)[0]]));
}
