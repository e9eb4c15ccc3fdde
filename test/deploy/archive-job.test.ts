import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { openDatabase } from '../../src/storage/old/database.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { PROCESS_ENV } from '../harness/run-command.ts';
import { configFile } from '../ops/retention-file.ts';
import { aged, day, KEY } from '../storage/old-trail.ts';
import { manifestsOf } from './helm/rendered.ts';

interface ArchiveCommand {
  /** The program and its arguments. */
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
}

const Container = z.object({
  command: z.array(z.string()),
  env: z.array(z.object({ name: z.string(), value: z.string() })),
  workingDir: z.string(),
});
const Pod = z.object({ spec: z.object({ containers: z.tuple([Container]) }) });
const Jobs = z.object({ spec: z.object({ template: Pod }) });
const CronJob = z.object({
  kind: z.literal('CronJob'),
  spec: z.object({ jobTemplate: Jobs }),
});

function ofCronJob(manifest: unknown): ArchiveCommand {
  const { spec } = CronJob.parse(manifest).spec.jobTemplate.spec.template;
  const [{ command: words, env, workingDir }] = spec.containers;
  return { words, env: Object.fromEntries(env.map((one) => [one.name, one.value])), workingDir };
}

function ofUnit(file: string): ArchiveCommand {
  const values = (key: string) =>
    [...readFileSync(file, 'utf8').matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(
      ([, value = '']) => value,
    );
  const pairs = values('Environment').map((pair) => pair.split('=') as [string, string]);
  return {
    words: values('ExecStart').join().split(' '),
    env: Object.fromEntries(pairs),
    workingDir: '/',
  };
}

const Compose = z.object({
  services: z.object({
    signalbox: z.object({
      environment: z.record(z.string(), z.string()),
      volumes: z.array(z.string()),
    }),
  }),
});

/** The command of the page, with the variables and folders of the service that it runs. */
function ofCompose(): ArchiveCommand {
  const page = readFileSync('docs/retention.md', 'utf8').replaceAll('\\\n', '');
  const [, options = '', words = ''] =
    /^docker compose run --rm (.*?)signalbox +(signalbox .*)$/m.exec(page) ?? [];
  expect(options).toContain('--volume /var/lib/signalbox-segments:/segments ');
  const { signalbox } = Compose.parse(parse(readFileSync('compose.yaml', 'utf8'))).services;
  expect(signalbox.volumes).toContain('./config:/etc/signalbox:ro');
  const unset = Object.entries(signalbox.environment).filter(([, value]) => !value.includes('${'));
  // The image has the path of the configuration file.
  const config = /SIGNALBOX_CONFIG=(\S+)/.exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? '';
  const env = { SIGNALBOX_CONFIG: config, ...Object.fromEntries(unset) };
  return {
    words: [`/bin/${words.split(' ')[0]}`, ...words.split(' ').slice(1)],
    env,
    workingDir: '/',
  };
}

const FORMS: Readonly<Record<string, () => ArchiveCommand>> = {
  'the plain manifest': () =>
    ofCronJob(parse(readFileSync('deploy/kubernetes/jobs/archive.yaml', 'utf8'))),
  'the chart': () =>
    ofCronJob(manifestsOf('everything').find((one) => CronJob.safeParse(one).success)),
  'the systemd unit': () => ofUnit('deploy/signalbox-archive.service'),
  'the command of Compose': ofCompose,
};
const TODAY = Math.floor((Date.now() - day(0).getTime()) / 86_400_000);

/** A folder with an old database, its secrets, the configuration and a folder for segments. */
async function installation(): Promise<string> {
  const config = configFile('retention: { changes: 90d }');
  const folder = dirname(config);
  for (const name of ['secrets', 'config', 'segments']) mkdirSync(join(folder, name));
  renameSync(config, join(folder, 'config/signalbox.yaml'));
  const url = `file:${join(folder, 'signalbox.db')}`;
  const files = {
    'database-url': url,
    'signalbox-key': KEY.toString('base64'),
    'signalbox-previous-keys': Buffer.alloc(32, 9).toString('base64'),
  };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, 'secrets', name), text);
  const database = await openDatabase(url);
  await aged(database, { from: TODAY - 400, to: TODAY - 399 });
  await database.close();
  return folder;
}

test.for(Object.keys(FORMS))('%s archives with its own variables and folders', async (form) => {
  const { words, env, workingDir } = FORMS[form]?.() ?? { words: [], env: {}, workingDir: '/' };
  const folder = await installation();
  const inFolder = (text: string) =>
    text
      .replace(/^(\/run\/secrets\/signalbox(?=\/)|%d)/, join(folder, 'secrets'))
      .replace(/^\/run\/secrets\/(\w+)$/, (_, name) =>
        join(folder, 'secrets', name.replaceAll('_', '-')),
      )
      .replace(/^file:\/var\/lib\/signalbox(?=\/)/, `file:${folder}`)
      .replace(/^\/etc\/signalbox/, join(folder, 'config'))
      .replace(/^(\/var\/lib\/signalbox-segments|\/segments)/, join(folder, 'segments'));
  expect(words[0]).toMatch(/\/bin\/signalbox$/);
  const own = Object.entries(env).map(([name, value]) => [name, inFolder(value)]);
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [SIGNALBOX, ...words.slice(1).map(inFolder)],
    {
      cwd: inFolder(workingDir),
      env: { ...PROCESS_ENV, ...Object.fromEntries(own) },
      encoding: 'utf8',
    },
  );
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(stdout).toContain('has the events 1 to 2.');
  expect(readdirSync(join(folder, 'segments'))).toHaveLength(1);
});
