import { fencesOn, readPage, spansOn } from './pages.ts';

/** Words after a slash that are no commands of Signalbox: addresses, folders, a command of Slack. */
const NO_COMMANDS = [
  'healthz',
  'readyz',
  'metrics',
  'slack',
  'data',
  'etc',
  'var',
  'opt',
  'invite',
];
/** The prefix that the pages use as an example. */
const PREFIX = /^db-/;

const isCommandLine = (code: string) =>
  /^\/[a-z-]+( |$)/.test(code) && !NO_COMMANDS.includes(code.slice(1).split(' ')[0] ?? '');
const isSyntax = (code: string) => /[<[|…]/.test(code);

/** The complete command lines in the code blocks of a page. */
export function linesOn(file: string): readonly string[] {
  const blocks = fencesOn(readPage(file)).filter(({ language }) => language === '');
  return blocks.flatMap(({ text }) => text.split('\n')).filter(isCommandLine);
}

/** The commands in sentences of a page; arguments may be missing. */
export function inlineLinesOn(file: string): readonly string[] {
  return spansOn(readPage(file)).filter((code) => isCommandLine(code) && !isSyntax(code));
}

/** Syntax descriptions: `/service stop <service> [at= in= for=] [reason]`. */
export function syntaxOn(file: string): readonly string[] {
  return spansOn(readPage(file)).filter((code) => isCommandLine(code) && isSyntax(code));
}

export function nounAndRest(code: string): { readonly noun: string; readonly rest: string } {
  const [, noun = '', rest = ''] = /^\/(\S+) ?(.*)$/.exec(code) ?? [];
  return { noun: noun.replace(PREFIX, ''), rest: rest.trim() };
}
