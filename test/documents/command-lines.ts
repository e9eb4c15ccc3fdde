import { fencesOn, read, spansOn } from './pages.ts';

/** Begin with a stroke and are none of our commands: addresses, folders, and one of Slack's own. */
const OTHERS = ['healthz', 'readyz', 'metrics', 'slack', 'data', 'etc', 'var', 'opt', 'invite'];
/** How the pages show that two apps with the same words get along. */
const PREFIX = /^db-/;

const isTyped = (code: string) =>
  /^\/[a-z-]+( |$)/.test(code) && !OTHERS.includes(code.slice(1).split(' ')[0] ?? '');
const isPattern = (code: string) => /[<[|…]/.test(code);

/** What stands alone in a block of code: to be typed as it is. */
export function linesOn(file: string): readonly string[] {
  const blocks = fencesOn(read(file)).filter(({ language }) => language === '');
  return blocks.flatMap(({ text }) => text.split('\n')).filter(isTyped);
}

/** What a sentence says to type, which may be half a line. */
export function saidOn(file: string): readonly string[] {
  return spansOn(read(file)).filter((code) => isTyped(code) && !isPattern(code));
}

/** `/service stop <service> [at= in= for=] [reason]`, and the like. */
export function patternsOn(file: string): readonly string[] {
  return spansOn(read(file)).filter((code) => isTyped(code) && isPattern(code));
}

export function nounAndRest(code: string): { readonly noun: string; readonly rest: string } {
  const [, noun = '', rest = ''] = /^\/(\S+) ?(.*)$/.exec(code) ?? [];
  return { noun: noun.replace(PREFIX, ''), rest: rest.trim() };
}
