import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const Container = z.looseObject({ command: z.tuple([z.string(), z.string(), z.string()]) });
const Items = z.array(z.strictObject({ key: z.string(), path: z.string() }));
const Secret = z.looseObject({ items: Items, optional: z.boolean().default(false) });
const Pod = z.looseObject({
  initContainers: z.tuple([Container]),
  containers: z.tuple([z.looseObject({ command: z.array(z.string()) })]),
  volumes: z.array(z.looseObject({ name: z.string(), secret: Secret.optional() })),
});
const Template = z.object({ template: z.object({ spec: Pod }) });
const Job = z.object({ spec: z.object({ jobTemplate: z.object({ spec: Template }) }) });

function podOfJob() {
  const job = Job.parse(parse(readFileSync('deploy/kubernetes/jobs/backup.yaml', 'utf8')));
  return job.spec.jobTemplate.spec.template.spec;
}

/** The script of the CronJob, with folders of the test. */
function scriptIn(folder: string): string {
  const [{ command }] = podOfJob().initContainers;
  return command[2]
    .replaceAll('/run/secrets/signalbox', folder)
    .replaceAll('/backups', join(folder, 'backups'));
}

/** Runs the script with a pg_dump that writes its settings into the archive. */
function backUp(address: string | null) {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-backup-job-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'backups'));
  if (address !== null) writeFileSync(join(folder, 'database-url'), address);
  const tool = `#!/bin/sh\nfile=\${2#--file=}\necho "$3 $PGSSLMODE $PGSSLROOTCERT" > "$file"\n`;
  writeFileSync(join(folder, 'pg_dump'), tool, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const run = () => execFileSync('sh', ['-ceu', scriptIn(folder)], { env, stdio: 'pipe' });
  return { run, files: () => readdirSync(join(folder, 'backups')), folder };
}

test.for<[string, string, string]>([
  ['', 'verify-full system', ''],
  [
    '?sslmode=verify-full&sslrootcert=/ca.pem',
    'verify-full system',
    '?sslmode=verify-full&sslrootcert=/ca.pem',
  ],
  ['?sslmode=require', 'verify-full system', '?sslmode=verify-full'],
  [
    '?connect_timeout=9&sslmode=prefer',
    'verify-full system',
    '?connect_timeout=9&sslmode=verify-full',
  ],
  [
    '?sslmode=verify-ca&sslrootcert=/ca.pem',
    'verify-full system',
    '?sslmode=verify-full&sslrootcert=/ca.pem',
  ],
  ['?sslmode=disable', ' ', '?sslmode=disable'],
  ['?sslmode=no-verify', ' ', '?sslmode=require'],
])(
  'the nightly backup of an address with %j uses TLS as Signalbox does',
  ([options, settings, used]) => {
    const address = `postgres://user:sslmode=disable@db/signalbox${options}`;
    const { run, files, folder } = backUp(address);
    run();
    const [file = '', ...more] = files();
    expect(more).toEqual([]);
    expect(file).toMatch(/^signalbox-\d{8}T\d{6}Z\.dump$/);
    expect(readFileSync(join(folder, 'backups', file), 'utf8')).toBe(
      `${address.replace(options, '')}${used} ${settings}\n`,
    );
  },
);

test('the nightly backup reads the address and, where there is one, the CA, but not the key', () => {
  const { secret } = podOfJob().volumes.find(({ name }) => name === 'secrets') ?? {};
  const keys = secret?.items.map(({ key, path }) => (key === path ? key : `${key} as ${path}`));
  expect(keys).toEqual(['database-url', 'database-ca.pem']);
  expect(secret?.optional).toBe(true);
});

test('each copy is recorded after it was made', () => {
  const [{ command }] = podOfJob().containers;
  expect(command).toEqual(['/app/bin/signalbox', 'backup', '--made']);
});

test('without the address the nightly backup fails and leaves no archive', () => {
  const { run, files } = backUp(null);
  expect(run).toThrow('database-url');
  expect(files()).toEqual([]);
});
