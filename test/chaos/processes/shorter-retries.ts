import { SHORTER_PAUSES } from './kill-points.ts';
import { loadPatched } from './load-patched.ts';
import { patcherOf } from './source-hook.ts';

// Loaded before the bot in a child process, which does not start if the pauses have no place in the source.
loadPatched(patcherOf([SHORTER_PAUSES]));
