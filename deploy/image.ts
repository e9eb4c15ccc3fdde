import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { contextOf } from './context.ts';
import { execForm, restsOf, type Stage, stagesOf } from './dockerfile.ts';

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
  const [packages, final] = stagesOf(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  if (!packages || !final) throw new Error('The Dockerfile must have two stages');
  const [context, built, app] = ['context', 'packages', 'app'].map((name) => join(into, name));
  if (!context || !built || !app) throw new Error('The folders for the build are missing');

  for (const file of contextOf(root)) place(join(root, file), join(context, file));
  copyInto(built, packages, context, built);
  installIn(built, packages);
  copyInto(app, final, context, built);
  copyFileSync(process.execPath, join(into, 'node'));
  const [command = '', healthcheck = ''] = ['CMD', 'HEALTHCHECK'].map((name) =>
    restsOf(final, name).at(-1),
  );
  const runtime = (words: readonly string[]) =>
    words.map((word) => word.replace(/^node$/, join(into, 'node')).replace(/^\/app/, app));
  return {
    app,
    env: { ...envOf(final), PATH: `${into}:/usr/bin:/bin` },
    command: runtime(execForm(command)),
    healthcheck: runtime(execForm(healthcheck)),
  };
}

/** The forms of COPY in our Dockerfile: files of the context, or a folder of the first stage, to /app. */
function copyInto(folder: string, stage: Stage, context: string, built: string): void {
  for (const rest of restsOf(stage, 'COPY')) {
    const words = rest.split(/\s+/);
    const from = words[0]?.startsWith('--from=') ? built : context;
    const [to = '', ...sources] = words.filter((word) => !word.startsWith('--')).toReversed();
    for (const source of sources) {
      const path = join(from, source.replace(/^\/app\//, ''));
      place(path, to.endsWith('/') ? join(folder, to, source) : join(folder, to));
    }
  }
}

function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

// No other step of a RUN is executed: a command that is harmless in an image could damage this machine.
function installIn(folder: string, stage: Stage): void {
  const steps = restsOf(stage, 'RUN').flatMap((rest) =>
    rest.split('&&').map((step) => step.trim()),
  );
  for (const step of steps) {
    const [program, ...words] = step.split(/\s+/);
    if (program === 'npm') {
      execFileSync('npm', [...words, '--loglevel=error'], { cwd: folder, stdio: 'inherit' });
    } else if (program === 'rm') {
      for (const path of words.slice(1)) remove(folder, path);
    } else {
      throw new Error(`The rehearsal cannot run this step: ${step}`);
    }
  }
}

function remove(folder: string, path: string): void {
  const target = resolve(folder, path);
  if (!target.startsWith(folder + sep)) throw new Error(`${path} is outside of the build folder`);
  rmSync(target, { recursive: true });
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
