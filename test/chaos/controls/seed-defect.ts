import type { Plugin } from 'vite';
import { patcherOf } from '../processes/source-hook.ts';
import { CONTROLS } from './defects.ts';

function namedDefect(behaviour: string | undefined) {
  if (behaviour === undefined) return (_path: string, text: string) => text;
  const control = CONTROLS.find((each) => each.behaviour === behaviour);
  if (control) return patcherOf([control]);
  throw new Error(`SIGNALBOX_DEFECT names no control: “${behaviour}”`);
}

/** The text of a file with the defect of the control that SIGNALBOX_DEFECT names; other files are unchanged. */
export const seedDefect = namedDefect(process.env.SIGNALBOX_DEFECT);

/** A Vite plugin that seeds the named defect into the source that the tests load. */
export function seededDefect(): Plugin {
  return {
    name: 'seeded-defect',
    enforce: 'pre',
    transform: (code, id) => seedDefect(id.split('?')[0] ?? id, code),
  };
}
