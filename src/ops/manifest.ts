import { commands, nouns } from '../commands/index.ts';
import { manifestOf } from '../slack/index.ts';
import { readOptions, refuseOptions, writeText } from './options.ts';

const USAGE = `signalbox manifest [--prefix db-] [--url https://…/slack/events] [--mcp https://…/mcp] [--org] [--out <file>]
    Writes the manifest of the Slack app.
    --prefix  put before each command: db- makes /db-service
    --url     the address of deliveries over HTTP; without it the app uses Socket Mode
    --mcp     the address of agents, so that Slackbot may ask there
    --org     the app may be installed for a whole organization of Enterprise Grid
    --out     the file; default manifest.json, with a prefix or an address manifest.local.json
Exit code: 0 success, 1 failure, 2 wrong options.
`;
const OPTIONS = {
  prefix: { type: 'string', default: '' },
  url: { type: 'string' },
  mcp: { type: 'string' },
  org: { type: 'boolean', default: false },
  out: { type: 'string' },
} as const;

/** `signalbox manifest` */
export async function runManifest(args: readonly string[]): Promise<void> {
  const { prefix, org, out, ...given } = readOptions(args, OPTIONS, USAGE);
  const { url = null, mcp = null } = given;
  if (!/^[a-z0-9-]*$/.test(prefix)) {
    refuseOptions(
      `--prefix may contain lower-case letters, digits and dashes only, not ${prefix}.`,
      USAGE,
    );
  }
  for (const [option, address] of Object.entries({ url, mcp })) {
    if (address !== null && !(URL.canParse(address) && address.startsWith('https://'))) {
      refuseOptions(`--${option} must begin with https://, not ${address}.`, USAGE);
    }
  }
  if (url !== null && new URL(url).pathname !== '/slack/events') {
    refuseOptions(`--url must end with /slack/events, not ${url}.`, USAGE);
  }
  const { file, text } = manifestFile({ prefix, url, mcp, org });
  writeText(out ?? file, text);
  process.stdout.write(`${out ?? file} was written. Paste it at https://api.slack.com/apps\n`);
}

/** The committed file has no prefix and no address, because the sandbox and the tests use it. */
export function manifestFile(given: Omit<Parameters<typeof manifestOf>[0], 'commands' | 'nouns'>) {
  const { prefix, url, mcp = null, org = false } = given;
  const isOwn = prefix !== '' || url !== null || mcp !== null || org;
  const manifest = manifestOf({ commands, nouns, ...given });
  return {
    file: isOwn ? 'manifest.local.json' : 'manifest.json',
    text: `${JSON.stringify(manifest, null, 2)}\n`,
  };
}
