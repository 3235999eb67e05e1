import { join } from 'node:path';
import ts from 'typescript';
import { type Loose, ROOT } from './files.js';

/** A class of kubernetes-models, whose checks are compiled from the OpenAPI document that Kubernetes publishes. */
type ModelClass = new (data: unknown) => { validate(): void };

/** Where the kind of a manifest is kept, such as `kubernetes-models/apps/v1/Deployment`. */
function modelPath({ apiVersion, kind }: Loose): string {
  const models = apiVersion.startsWith('gateway.') ? '@kubernetes-models/gateway-api' : 'kubernetes-models';
  return `${models}/${apiVersion}/${kind}`;
}

/** What Kubernetes' published schema has against a manifest: wrong types, missing and malformed fields. */
export async function schemaProblems(manifest: Loose): Promise<string[]> {
  const models = (await import(modelPath(manifest))) as Record<string, ModelClass>;
  const Model = models[manifest.kind];
  if (Model === undefined) return [`There is no ${manifest.kind} in ${manifest.apiVersion}.`];
  try {
    new Model(manifest).validate();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

/**
 * Fields of manifests that Kubernetes does not know. Its schema allows them and the server drops them in silence, so
 * the compiler is asked, which allows no unknown property in a literal of the kind's type.
 */
export function unknownFields(named: ReadonlyMap<string, Loose>): string[] {
  const sources = [...named].map(([name, manifest], index) => {
    const source =
      `import type { I${manifest.kind} } from '${modelPath(manifest)}';\n` +
      `export const manifest: I${manifest.kind} = ${JSON.stringify(manifest, undefined, 1)};\n`;
    return { name, source, file: join(ROOT, `test/deployment/manifest-${index}.ts`) };
  });
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const exists = host.fileExists.bind(host);
  const read = host.getSourceFile.bind(host);
  const written = (path: string) => sources.find(({ file }) => file === path);
  host.fileExists = (path) => written(path) !== undefined || exists(path);
  host.getSourceFile = (path, version, ...rest) => {
    const source = written(path)?.source;
    return source === undefined ? read(path, version, ...rest) : ts.createSourceFile(path, source, version);
  };
  const program = ts.createProgram(
    sources.map(({ file }) => file),
    options,
    host,
  );
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const { name = 'kubernetes-models' } = written(file?.fileName ?? '') ?? {};
    return `${name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
