import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const { version } = packageJson;

function versionsIn(file: string, pattern: RegExp): readonly string[] {
  const matches = [...readFileSync(file, 'utf8').matchAll(pattern)];
  return matches.map(([, group = '']) => group);
}

const IMAGE = /signalbox:(\d[\w.]+)/g;
/** Every shipped form that names the image. */
const IMAGES = globSync(['compose.yaml', 'deploy/**/*.{yaml,yml,tf}']).filter(
  (file) => versionsIn(file, IMAGE).length > 0,
);

// A page must name the release that it belongs to.
test.for<[string, RegExp]>([
  ['package-lock.json', /"name": "signalbox",\s+"version": "([^"]+)"/g],
  ['deploy/kubernetes/kustomization.yaml', /newTag: (\S+)/g],
  ['deploy/helm/signalbox/Chart.yaml', /ersion: (\d\S+)/g],
  ['deploy/github/policy.yml', /ref: v(\S+)/g],
  ['docs/shipping.md', /(?:signalbox:|--branch v)(\d\S+)/g],
  ...IMAGES.map((file): [string, RegExp] => [file, IMAGE]),
])('%s names the version of this release', ([file, pattern]) => {
  const named = versionsIn(file, pattern);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((one) => one !== version)).toEqual([]);
});

test('the newest dated entry of the changelog is this release', () => {
  const releases = versionsIn('CHANGELOG.md', /^## \[(\d\S+)\] - \d{4}-\d{2}-\d{2}$/gm);
  expect(releases[0]).toBe(version);
});
