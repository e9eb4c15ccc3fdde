import { nearest } from '../../base/text.ts';
import type { Answer } from '../../domain/answer.ts';
import type { CostSelector } from '../../domain/policy.ts';
import { findByName, type Service } from '../../domain/targets.ts';
import { selectRows } from '../../maths/days.ts';
import type { Grouping } from '../../maths/lines.ts';
import { type CostQuestion, type QuestionScope, SCOPE_KINDS } from '../../maths/question.ts';
import type { CostRow } from '../../maths/rows.ts';
import { type CostScope, costScope } from '../scope.ts';
import { costOffer, unclearAnswer } from './cost-question.ts';
import { unclearQuestionText } from './question-text.ts';

type ScopedRows =
  | { readonly ok: true; readonly rows: readonly CostRow[]; readonly scope: CostScope }
  | { readonly ok: false; readonly answer: Answer };

interface ScopedQuestion {
  readonly question: Pick<CostQuestion, 'by' | 'scope'>;
  /** The same question with another scope, as a line to send. */
  readonly lineFor: (scope: QuestionScope) => string;
}

/**
 * The rows that a question is about, with the tags and teams of their services if it groups by them.
 * Refuses a warehouse that neither the configuration nor the rows name.
 */
export function scopedRows(
  { question, lineFor }: ScopedQuestion,
  rows: readonly CostRow[],
  services: readonly Service[],
): ScopedRows {
  const { warehouse: typed, ...others } = question.scope;
  const known = typed.length > 0 ? knownWarehouses(rows, services) : { names: [], ids: [] };
  const unknown = typed.find((name) => warehouseNamed(known, name) === null);
  // Without any row, the report shows no warehouse.
  if (unknown !== undefined && rows.length > 0) {
    return { ok: false, answer: unknownWarehouse({ question, lineFor }, unknown, known.names) };
  }
  const warehouse = typed.map((name) => warehouseNamed(known, name) ?? name);
  const scope = costScope(selectionOf({ ...others, warehouse }, services), services, rows);
  const own = selectRows(rows, scope.selector);
  return { ok: true, scope, rows: isLabel(question.by) ? withLabels(own, services) : own };
}

function isLabel(by: Grouping): boolean {
  return by === 'tag' || by === 'team';
}

function selectionOf(scope: QuestionScope, services: readonly Service[]): CostSelector | null {
  if (SCOPE_KINDS.every((kind) => scope[kind].length === 0)) return null;
  const named = (names: readonly string[]) => (names.length > 0 ? names : null);
  const found = scope.service.flatMap((name) => findByName(services, name));
  return {
    services: scope.service.length > 0 ? found.map(({ id, name }) => ({ id, name })) : null,
    tags: named(scope.tag),
    warehouses: named(scope.warehouse),
    teams: named(scope.team),
  };
}

interface KnownWarehouses {
  readonly names: readonly string[];
  readonly ids: readonly string[];
}

function knownWarehouses(rows: readonly CostRow[], services: readonly Service[]): KnownWarehouses {
  const configured = services.flatMap(({ warehouse }) => warehouse ?? []);
  const reported = rows.flatMap(({ kind, entityName }) => (kind === 'warehouse' ? entityName : []));
  const ids = rows.flatMap(({ warehouseId }) => warehouseId ?? []);
  return { names: [...new Set([...configured, ...reported])], ids: [...new Set(ids)] };
}

/** By name or id. A typed name is one word, so that it has dashes for the spaces. */
function warehouseNamed({ names, ids }: KnownWarehouses, typed: string): string | null {
  const word = (name: string) => name.toLowerCase().replaceAll(' ', '-');
  return [...names, ...ids].find((name) => word(name) === word(typed)) ?? null;
}

function unknownWarehouse(
  { question, lineFor }: ScopedQuestion,
  text: string,
  names: readonly string[],
): Answer {
  const words = names.map((name) => name.replaceAll(' ', '-'));
  const near = nearest(text, words);
  const offers = (near.length > 0 ? near : words.slice(0, 3)).map((name) => {
    const warehouse = question.scope.warehouse.map((one) => (one === text ? name : one));
    return costOffer(lineFor({ ...question.scope, warehouse }));
  });
  const problem = { ok: false, problem: 'unknown-warehouse', text, earlier: '' } as const;
  const sentence = unclearQuestionText({ ...problem, about: [], nearest: [] });
  return unclearAnswer(`${sentence} Did you mean:`, offers);
}

/** A service with several tags has all of them in one label, so that its costs count once. */
function withLabels(rows: readonly CostRow[], services: readonly Service[]): readonly CostRow[] {
  const labels = new Map(
    services.flatMap(({ id, tags, team }) => {
      if (tags === null) return [];
      const tag = tags.toSorted().join(', ') || 'no tag';
      return [[id, { tag, team: team ?? 'no team' }] as const];
    }),
  );
  return rows.map((row) => {
    const own = labels.get(row.serviceId ?? '');
    return own ? { ...row, labels: own } : row;
  });
}
