import type { KeywordRefusal, KeywordStep, QuestionContext, ScopePart } from './keyword-step.ts';
import { bySimilarity, similarWords } from './period-forms.ts';
import { type Names, type QuestionScope, SCOPE_KINDS, type ScopeKind } from './question.ts';

export function isScopeKind(word: string): word is ScopeKind {
  return SCOPE_KINDS.some((kind) => kind === word);
}

export function addToScope(scope: QuestionScope, { kind, names }: ScopePart): QuestionScope {
  return { ...scope, [kind]: [...new Set([...scope[kind], ...names])] };
}

/** Reads the word after `tag`, `warehouse` or `team`: one name, or several with commas. */
export function readNamed(
  kind: Exclude<ScopeKind, 'service'>,
  [typed = '']: readonly string[],
  { names }: QuestionContext,
): KeywordStep {
  const known = names[kind];
  const read = listOf(typed).map((text) => ({ text, name: nameIn(known, text) }));
  // A warehouse may be known to the usage report only, which is not read yet.
  const missing = read.find(({ name }) => name === null && kind !== 'warehouse');
  if (missing || read.length === 0) {
    const near = nearNames(missing?.text ?? '', known).map((name) => `${kind} ${name}`);
    return refusedName(kind, missing?.text ?? '', near, typed === '' ? 0 : 1);
  }
  const own = read.map(({ text, name }) => name ?? text);
  return { ok: true, part: { scope: { kind, names: own } }, taken: 1 };
}

const LONGEST_NAME_WORDS = 8;

/** The longest service name at the start, with at least that many words. */
export function serviceAt(words: readonly string[], names: Names, least = 1): KeywordStep | null {
  for (let taken = Math.min(LONGEST_NAME_WORDS, words.length); taken >= least; taken -= 1) {
    const text = words.slice(0, taken).join(' ');
    const called = names.called(text);
    if (called.length === 1) return servicesStep(called, taken);
    if (called.length > 1) {
      return { ok: false, problem: 'shared-name', text, taken, nearest: called };
    }
  }
  const [typed = ''] = words;
  const listed = typed.includes(',') ? listOf(typed).map(names.called) : [];
  const isList = listed.length > 0 && listed.every(({ length }) => length === 1);
  return isList ? servicesStep(listed.flat(), 1) : null;
}

function servicesStep(names: readonly string[], taken: number): KeywordStep {
  return { ok: true, part: { scope: { kind: 'service', names } }, taken };
}

/** The service names after `service=`, or a refusal of the first unknown one. */
export function readServices(typed: string, { names }: QuestionContext): KeywordStep {
  const read = serviceAt([typed], names);
  if (read) return read;
  const unknown = listOf(typed).find((text) => names.called(text).length !== 1) ?? '';
  return refusedName('service', unknown, names.near(unknown), typed === '' ? 0 : 1);
}

export function refusedName(
  kind: ScopeKind,
  text: string,
  nearest: readonly string[],
  taken: number,
): KeywordRefusal {
  return { ok: false, problem: `unknown-${kind}`, text, taken, nearest };
}

/** The known tags, warehouses and teams similar to the text, as words of a question. */
export function similarScopes(text: string, names: Names): readonly string[] {
  return SCOPE_KINDS.flatMap((kind) =>
    kind === 'service' ? [] : similarWords(text, names[kind]).map((name) => `${kind} ${name}`),
  );
}

function listOf(typed: string): readonly string[] {
  return typed.split(',').filter((text) => text !== '');
}

function nameIn(known: readonly string[], text: string): string | null {
  return known.find((name) => name.toLowerCase() === text.toLowerCase()) ?? null;
}

function nearNames(text: string, known: readonly string[]): readonly string[] {
  const near = similarWords(text, known);
  return (near.length > 0 ? near : bySimilarity(text, known)).slice(0, 3);
}
