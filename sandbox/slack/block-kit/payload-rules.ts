import type { z } from 'zod';
import { ruleBroken } from './problems.ts';
import { tableChars } from './tables.ts';

interface AnyBlock {
  readonly type: string;
  readonly block_id?: string | undefined;
}

const MAX_CHARTS = 2;
const MAX_DATA_TABLE_CHARS = 20_000;
const MAX_TABLE_CHARS = 10_000;

/** Adds the issues of rules that concern all blocks of one payload together. */
export function checkPayload(blocks: readonly AnyBlock[], ctx: z.RefinementCtx): void {
  for (const index of repeated(blocks.map(({ block_id }) => block_id))) {
    const message = `block_id "${blocks[index]?.block_id}" already exists`;
    ctx.addIssue(ruleBroken('duplicate_block_id', message, [index, 'block_id']));
  }
  blocks.forEach((block, index) => {
    const ids = actionIds(block);
    for (const at of repeated(ids)) {
      const message = `action_id "${ids[at]}" already exists for another element`;
      ctx.addIssue(ruleBroken('duplicate_action_id', message, [index]));
    }
  });
  const ofType = (type: string) => blocks.filter((block) => block.type === type);
  if (ofType('data_visualization').length > MAX_CHARTS) {
    const message = `no more than ${MAX_CHARTS} blocks of type data_visualization allowed`;
    ctx.addIssue(ruleBroken('too_many_data_visualization', message));
  }
  if (ofType('table').length > 1) {
    ctx.addIssue(ruleBroken('only_one_table_allowed', 'only one table block is allowed'));
  }
  if (tableChars(ofType('table')) > MAX_TABLE_CHARS) {
    const message = `a table block exceeds ${MAX_TABLE_CHARS} characters`;
    ctx.addIssue(ruleBroken('table_too_long', message));
  }
  if (tableChars(ofType('data_table')) > MAX_DATA_TABLE_CHARS) {
    const message = `all data_table blocks together exceed ${MAX_DATA_TABLE_CHARS} characters`;
    ctx.addIssue(ruleBroken('data_table_too_long', message));
  }
}

/** The positions of ids that also occur earlier in the list. */
function repeated(ids: readonly (string | undefined)[]): number[] {
  return ids.flatMap((id, at) => (id !== undefined && ids.indexOf(id) < at ? [at] : []));
}

function actionIds(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(actionIds);
  if (typeof value !== 'object' || value === null) return [];
  const own = 'action_id' in value && typeof value.action_id === 'string' ? [value.action_id] : [];
  return [...own, ...Object.values(value).flatMap(actionIds)];
}
