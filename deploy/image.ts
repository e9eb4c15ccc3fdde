import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { contextOf } from './context.ts';
import { execForm, type Instruction, restsOf, type Stage, stagesOf } from './dockerfile.ts';
import { OWNER, run } from './processes.ts';

/** The content of the image in local folders, and how to run it. */
export interface Image {
  /** The local folder that stands for `/app`. */
  readonly app: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/** Runs the steps of the Dockerfile without Docker. Throws on an unknown step. */
export function layOut(root: string, into: string): Image {
  const stages = stagesOf(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  const final = stages.at(-1);
  if (!final) throw new Error('The Dockerfile has no stage');
  const app = join(into, 'app');

  for (const file of contextOf(root)) place(join(root, file), join(into, 'context', file));
  for (const stage of stages.slice(0, -1)) build(into, stage);
  copyInto(app, final.instructions, into);
  copyFileSync(process.execPath, join(into, 'node'));
  const [command = '', healthcheck = ''] = ['CMD', 'HEALTHCHECK'].map((name) =>
    restsOf(final, name).at(-1),
  );
  const local = (word: string) => word.replace(/^\/app/, app);
  const runtime = (words: readonly string[]) =>
    words.map((word) => local(word.replace(/^node$/, join(into, 'node'))));
  const env = Object.entries(envOf(final)).map(([name, value]) => [name, local(value)]);
  return {
    app,
    env: { ...Object.fromEntries(env), PATH: `${into}:/usr/bin:/bin` },
    command: runtime(execForm(command)),
    healthcheck: runtime(execForm(healthcheck)),
  };
}

/** Executes a stage in the folder that has its name, in the order of its instructions. */
function build(into: string, { name, instructions }: Stage): void {
  if (name === null) throw new Error('Each stage but the last needs a name');
  const folder = join(into, name);
  for (const instruction of instructions) {
    copyInto(folder, [instruction], into);
    if (instruction.name === 'RUN') runSteps(folder, instruction.rest);
  }
}

/** The forms of COPY in our Dockerfile: files of the context, or a folder of an earlier stage, to /app. */
function copyInto(folder: string, instructions: readonly Instruction[], into: string): void {
  for (const { rest } of instructions.filter(({ name }) => name === 'COPY')) {
    const words = rest.split(/\s+/);
    const from = join(into, /^--from=(\S+)/.exec(rest)?.[1] ?? 'context');
    const [to = '', ...sources] = words.filter((word) => !word.startsWith('--')).toReversed();
    for (const source of sources) {
      const path = join(from, source.replace(/^\/app\//, ''));
      place(path, to.endsWith('/') ? join(folder, to, source) : join(folder, to));
    }
  }
}

function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

// No other step of a RUN is executed: a command that is harmless in an image could damage this machine.
function runSteps(folder: string, rest: string): void {
  for (const step of rest.split(/&&|;/).map((part) => part.trim())) {
    const [program = '', ...words] = step.split(/\s+/);
    if (program === 'npm') {
      execFileSync('npm', [...words, '--loglevel=error'], { cwd: folder, stdio: 'inherit' });
    } else if (program === 'install') {
      mkdirSync(inside(folder, words.at(-1) ?? ''));
    } else if (program.startsWith('NODE_COMPILE_CACHE=')) {
      storeCompiledCode(folder, words);
    } else if (program !== 'test' && program !== 'chmod') {
      throw new Error(`The rehearsal cannot run this step: ${step}`);
    }
  }
}

/** As the user of the image, because compiled code has a folder for each user. */
function storeCompiledCode(folder: string, [, program = '']: readonly string[]): void {
  const compiled = inside(folder, 'compiled');
  if (OWNER.uid !== undefined) chownSync(compiled, OWNER.uid, OWNER.gid);
  const env = { NODE_COMPILE_CACHE: compiled, PATH: '/usr/bin:/bin' };
  const { status } = run([process.execPath, inside(folder, program)], folder, env);
  if (status !== 78) throw new Error(`The start without configuration exits with ${status}`);
}

function inside(folder: string, path: string): string {
  const target = resolve(folder, path);
  if (!target.startsWith(folder + sep)) throw new Error(`${path} is outside of the build folder`);
  return target;
}

function envOf(stage: Stage): Readonly<Record<string, string>> {
  const pairs = restsOf(stage, 'ENV').flatMap((rest) => rest.split(/\s+/));
  return Object.fromEntries(
    pairs.map((pair) => [pair.split('=')[0] ?? '', pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** Makes everything read-only and readable for all users. */
export function lock(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const isProgram = (statSync(path).mode & 0o111) !== 0;
    chmodSync(path, isProgram ? 0o555 : 0o444);
  }
  chmodSync(folder, 0o555);
}
