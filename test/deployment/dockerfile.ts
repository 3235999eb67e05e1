import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

/** One line of a Dockerfile, continuations joined. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** A stage: its instructions, `FROM` first. */
export interface Stage {
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile. */
export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  const stages: { name: string; instructions: Instruction[] }[] = [];
  for (const line of lines.filter((one) => one.trim() !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`This is no instruction: ${line}`);
    if (name === 'FROM') stages.push({ name: / AS (\w+)$/.exec(rest)?.[1] ?? '', instructions: [] });
    stages.at(-1)?.instructions.push({ name, text: rest });
  }
  return stages;
}

/** The instructions of a stage with one name. */
export function textsOf(stage: Stage, name: string): string[] {
  return stage.instructions.filter((one) => one.name === name).map(({ text }) => text);
}

/** What `.dockerignore` lets into the build; patterns as far as ours use them, the last that matches decides. */
export class BuildContext {
  private readonly rules: readonly { pattern: RegExp; lets: boolean }[];

  constructor(readonly root: string) {
    const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
    this.rules = lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => ({ lets: line.startsWith('!'), pattern: asPattern(line.replace(/^!/, '')) }));
  }

  /** Whether a path, from the root, is in the context. */
  has(path: string): boolean {
    return this.rules.reduce((lets, rule) => (rule.pattern.test(path) ? rule.lets : lets), true);
  }

  /** Copies a file or folder into a folder, without what is ignored; fails where nothing is there, as Docker does. */
  copy(source: string, into: string): void {
    const files = filesUnder(join(this.root, source))
      .map((file) => relative(this.root, file))
      .filter((file) => this.has(file));
    if (files.length === 0) throw new Error(`COPY ${source}: nothing of it is in the build context.`);
    for (const file of files) {
      const inside = file === source ? basename(source) : relative(source, file);
      cpSync(join(this.root, file), join(into, inside));
    }
  }
}

function asPattern(glob: string): RegExp {
  const body = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\//g, '(?:.*/)?')
    .replace(/(?<!\.)\*(?!\/\))/g, '[^/]*');
  return new RegExp(`^${body}(?:/.*)?$`);
}

function filesUnder(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/**
 * Carries a Dockerfile out without an engine: each stage is a folder, COPY copies, RUN runs in the stage's working
 * folder with the machine's own Node.js, absolute paths lying below the stage's folder. What the base image brings is
 * not here.
 * @returns the last stage's folder
 */
export function carryOut(stages: readonly Stage[], context: BuildContext, folder: string): string {
  const rootOf = (index: number) => join(folder, `stage-${index}`);
  stages.forEach(({ instructions }, index) => {
    const root = rootOf(index);
    const state = { workdir: '/' };
    mkdirSync(root);
    for (const { name, text } of instructions) {
      if (name === 'WORKDIR') mkdirSync(join(root, (state.workdir = text)), { recursive: true });
      if (name === 'RUN') run(text, join(root, state.workdir), root);
      if (name === 'COPY') {
        const from = /^--from=(\w+) /.exec(text)?.[1];
        const words = text.replace(/^--from=\w+ /, '').split(' ');
        const target = words.pop() ?? '.';
        const into = join(root, state.workdir, target);
        const other = rootOf(stages.findIndex((stage) => stage.name === from));
        for (const source of words) {
          if (from === undefined) context.copy(source, into);
          else cpSync(join(other, source), into, { recursive: true, verbatimSymlinks: true });
        }
      }
    }
  });
  return rootOf(stages.length - 1);
}

function run(command: string, cwd: string, root: string): void {
  const reachesRegistry = /^(?:PATH|HOME|\w+_proxy|NODE_EXTRA_CA_CERTS|npm_config_(?:registry|cache))$/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([variable]) => reachesRegistry.test(variable)));
  const placed = command.replace(/(?<= )\/(?=[a-z])/g, `${root}/`);
  const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', placed], {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 240_000,
  });
  if (status !== 0) throw new Error(`RUN ${command}\nended with ${status}\n${stdout}${stderr}`);
}
