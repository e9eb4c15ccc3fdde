import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { commands, nouns } from './commands/index.ts';
import { manifestOf } from './slack/manifest.ts';

// `npm run manifest -- --prefix db- --url https://signalbox.example.com/slack/events`
const { values } = parseArgs({ options: { prefix: { type: 'string' }, url: { type: 'string' } } });
const manifest = manifestOf({
  commands,
  nouns,
  prefix: values.prefix ?? '',
  url: values.url ?? null,
});
const file = new URL('../manifest.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
process.stdout.write('manifest.json is written: paste it at https://api.slack.com/apps\n');
