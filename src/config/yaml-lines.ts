import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { ConfigProblem } from '../policy/problem.ts';

/**
 * Returns the problems with the line of each in the file: `cases.yaml:12 cases[2].command`. The line
 * of a missing key is the line of the set that lacks it. A syntax error has its line already.
 */
export function withLines(
  text: string,
  file: string,
  problems: readonly ConfigProblem[],
): readonly ConfigProblem[] {
  const lines = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: lines, logLevel: 'silent' });
  return problems.map((problem) => {
    const { where } = problem;
    if (where.startsWith(`${file}:`)) return problem;
    const path = where === file ? '' : where;
    const { line } = lines.linePos(offsetOf(contents, keysOf(path)));
    return { ...problem, where: `${file}:${Math.max(line, 1)} ${path}`.trimEnd() };
  });
}

/** Returns the line of the item with this index in the list under a key of the file. */
export function lineOfItem(text: string, key: string, index: number): number {
  const lines = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: lines, logLevel: 'silent' });
  return lines.linePos(offsetOf(contents, [key, String(index)])).line;
}

// The inverse of `pathOf`: `policy[1].approvals.from` has the keys policy, 1, approvals, from.
function keysOf(path: string): readonly string[] {
  return [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, key]) => quoted ?? index ?? key ?? '',
  );
}

function offsetOf(contents: unknown, keys: readonly string[]): number {
  let [node, offset] = [contents, 0];
  for (const key of keys) {
    const next = childOf(node, key);
    if (!next) return offset;
    offset = next.at;
    node = next.node;
  }
  return offset;
}

interface Child {
  readonly node: unknown;
  readonly at: number;
}

function childOf(node: unknown, key: string): Child | null {
  if (isSeq<Node>(node)) {
    const item = node.items[Number(key)];
    return item ? { node: item, at: item.range?.[0] ?? 0 } : null;
  }
  if (!isMap(node)) return null;
  const pair = node.items.find((each) => isScalar(each.key) && String(each.key.value) === key);
  return pair && isScalar(pair.key) ? { node: pair.value, at: pair.key.range?.[0] ?? 0 } : null;
}
