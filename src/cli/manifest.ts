import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { commands, nouns } from '../commands/index.ts';
import { manifestOf } from '../slack/manifest.ts';

const USAGE =
  'signalbox manifest [--prefix db-] [--url https://…/slack/events] [--out manifest.json]';
const OPTIONS = {
  prefix: { type: 'string', default: '' },
  url: { type: 'string' },
  out: { type: 'string' },
} as const;

function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n${USAGE}\n`);
  process.exit(1);
}

function readOptions() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

const { prefix, url = null, out } = readOptions();
if (!/^[a-z0-9-]*$/.test(prefix)) {
  refuse(`--prefix may contain lower-case letters, digits and dashes only, not ${prefix}.`);
}
if (url !== null && !(URL.canParse(url) && url.startsWith('https://'))) {
  refuse(`--url must begin with https://, not ${url}.`);
}
// The committed file has no prefix and no address, because the sandbox and the tests use it.
const own = prefix !== '' || url !== null ? 'manifest.local.json' : 'manifest.json';
const file = out ?? own;
const manifest = manifestOf({ commands, nouns, prefix, url });
writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
process.stdout.write(`${file} was written. Paste it at https://api.slack.com/apps\n`);
