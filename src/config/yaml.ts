import { type Document, LineCounter, parseDocument, visit, type YAMLError } from 'yaml';
import { type ConfigProblem, type ConfigResult, quoted } from '../policy/problem.ts';

/** The content of one YAML document, or where it cannot be understood. */
export function readYaml(text: string, path: string): ConfigResult<unknown> {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true, logLevel: 'error' });
  // A warning is about content that was not taken as it was meant: an unknown tag, a key that is
  // a list. Neither is passed over.
  const faults = [...document.errors, ...document.warnings];
  const problems = [
    ...faults.map((fault) => problemOf(fault, path)),
    ...poisonousKeys(document, (at) => placeOf(path, lineCounter.linePos(at))),
  ];
  return problems.length > 0 ? { ok: false, problems } : contentOf(document, path);
}

function contentOf(document: Document, path: string): ConfigResult<unknown> {
  try {
    return { ok: true, value: document.toJS() };
  } catch (error) {
    // References that multiply are unfolded up to a limit; past it nothing was read.
    const problem = error instanceof Error ? error.message : 'cannot be read';
    return { ok: false, problems: [{ where: path, problem, hint: null }] };
  }
}

function problemOf({ code, message, linePos }: YAMLError, path: string): ConfigProblem {
  const where = placeOf(path, linePos?.[0]);
  if (code === 'MULTIPLE_DOCS') {
    return { where, problem: 'must be one document', hint: 'take the line --- out' };
  }
  const [first = 'cannot be understood'] = message.split('\n');
  const problem = first.replace(/ at line \d+, column \d+:?$/, '');
  const hint = HINTS[code] ?? null;
  return { where, problem: quotable(problem), hint };
}

const HINTS: Readonly<Record<string, string>> = {
  BAD_SCALAR_START: "put names that begin with @ or # in quotes: '@db-leads'",
  DUPLICATE_KEY: 'keep one of the two',
  TAB_AS_INDENT: 'indent with spaces',
};

function quotable(text: string): string {
  return text.replace(/\p{C}/gu, '?').slice(0, 200);
}

// JavaScript gives this key a meaning of its own, and readers pass over it in silence.
function poisonousKeys(
  document: Document,
  place: (at: number) => string,
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  visit(document, {
    Scalar: (key, { value, range }) => {
      if (key !== 'key' || value !== '__proto__') return;
      const problem = `is not a known key: ${quoted(value)}`;
      problems.push({ where: place(range?.[0] ?? 0), problem, hint: null });
    },
  });
  return problems;
}

function placeOf(path: string, at: { line: number; col: number } | undefined): string {
  return at === undefined ? path : `${path}:${at.line}:${at.col}`;
}
