import { type Document, LineCounter, parseDocument, visit, type YAMLError } from 'yaml';
import { type ConfigProblem, type ConfigResult, quoted } from '../policy/problem.ts';

/** The content of one YAML document, or its problems with line and column. */
export function readYaml(text: string, path: string): ConfigResult<unknown> {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, uniqueKeys: true, logLevel: 'error' });
  // Warnings (unknown tags, lists as keys) count as errors, because the content would be wrong.
  const faults = [...document.errors, ...document.warnings];
  const problems = [
    ...faults.map((fault) => problemOf(fault, path)),
    ...prototypeKeys(document, (at) => placeOf(path, lineCounter.linePos(at))),
  ];
  return problems.length > 0 ? { ok: false, problems } : contentOf(document, path);
}

function contentOf(document: Document, path: string): ConfigResult<unknown> {
  try {
    return { ok: true, value: document.toJS() };
  } catch (error) {
    // The parser limits the expansion of aliases and throws beyond it.
    const problem = error instanceof Error ? error.message : 'cannot be read';
    return { ok: false, problems: [{ where: path, problem, hint: null }] };
  }
}

function problemOf({ code, message, linePos }: YAMLError, path: string): ConfigProblem {
  const where = placeOf(path, linePos?.[0]);
  if (code === 'MULTIPLE_DOCS') {
    return { where, problem: 'must be one document', hint: 'remove the line ---' };
  }
  const [first = 'is not valid YAML'] = message.split('\n');
  const problem = first.replace(/ at line \d+, column \d+:?$/, '');
  const hint = HINTS[code] ?? null;
  return { where, problem: quotable(problem), hint };
}

const HINTS: Readonly<Record<string, string>> = {
  BAD_SCALAR_START: "put names that begin with @ or # in quotes: '@db-leads'",
  DUPLICATE_KEY: 'remove one of them',
  TAB_AS_INDENT: 'indent with spaces',
};

function quotable(text: string): string {
  return text.replace(/\p{C}/gu, '?').slice(0, 200);
}

// JavaScript treats `__proto__` specially, and schemas would ignore the key silently.
function prototypeKeys(
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
