import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

const CHART = 'deploy/helm/signalbox';
const HERE = 'test/deploy/helm';
/** The files of values with which the chart was rendered. */
export const RENDERED = ['default', 'everything', 'sqlite'] as const;
export type Rendered = (typeof RENDERED)[number];

/** A hash of the templates, the files that they include, the default values and one file of values. */
export function sourceHash(name: Rendered): string {
  const hash = createHash('sha256');
  const chart = globSync(`${CHART}/{*.yaml,templates/*,files/*}`).toSorted();
  const files = [...chart, `${HERE}/${name}.yaml`];
  for (const file of files) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

/** The hash in the first line of a rendered file. */
export function renderedHash(name: Rendered): string {
  const [line = ''] = readRendered(name).split('\n');
  return line.replace(/^# Rendered from sha256:/, '');
}

/** The manifests that Go's text/template rendered. */
export function manifestsOf(name: Rendered) {
  const documents = parseAllDocuments(readRendered(name)).map((document) => document.toJS());
  // The notes are a document of comments.
  return documents.filter((document) => document !== null);
}

/** The text that `helm install` shows. */
export function notesOf(name: Rendered): string {
  const [, notes = ''] = /^---\n((?:# .*\n|# ?\n)+)/m.exec(readRendered(name)) ?? [];
  return notes.replaceAll(/^# ?/gm, '');
}

function readRendered(name: Rendered): string {
  return readFileSync(`${HERE}/rendered/${name}.yaml`, 'utf8');
}

// node test/deploy/helm/rendered.ts renders them again. render.go has the packages that this needs.
if (import.meta.main) {
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' };
  for (const name of RENDERED) {
    const args = ['run', `${HERE}/render.go`, CHART, `${HERE}/${name}.yaml`];
    const text = execFileSync('go', args, { encoding: 'utf8', env });
    const file = `${HERE}/rendered/${name}.yaml`;
    writeFileSync(file, `# Rendered from sha256:${sourceHash(name)}\n${text}`);
    process.stdout.write(`${file}\n`);
  }
}
