import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };

/** Where the tests keep their bundle of the current source. */
export const BUNDLE = fileURLToPath(
  new URL('../../node_modules/.cache/test-bundle', import.meta.url),
);

/** The bot of the crash tests, with their kill points. */
export const CRASHING_BUNDLE = `${BUNDLE}-with-kill-points`;
export const CRASHING_BOT = join(CRASHING_BUNDLE, 'bot.js');

/** The bot and the command line as they are shipped: a start takes a third of the processor time of the source. */
export const BOT = join(BUNDLE, 'main.js');
export const SIGNALBOX = join(BUNDLE, 'main.js');

const [, commandLine = ''] = packageJson.scripts.doctor.split(' ');
/** The source of the command line, as the npm scripts run it. */
export const SIGNALBOX_SOURCE = commandLine;
