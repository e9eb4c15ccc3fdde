import type { z } from 'zod';
import { broken } from './problems.ts';
import { DATA_TABLE_CHARS, TABLE_CHARS, tableChars } from './tables.ts';

/** Rules that hold for all blocks of one payload together. */

interface Kinded {
  readonly type: string;
  readonly block_id?: string | undefined;
}

export function wholePayload(blocks: readonly Kinded[], ctx: z.RefinementCtx): void {
  distinctBlockIds(blocks, ctx);
  blocks.forEach((block, index) => {
    distinctActionIds(block, index, ctx);
  });
  atMost(2, 'data_visualization', blocks, ctx);
  atMost(1, 'table', blocks, ctx);
  charsOf('table', TABLE_CHARS, blocks, ctx);
  charsOf('data_table', DATA_TABLE_CHARS, blocks, ctx);
  charsOf('markdown', 12_000, blocks, ctx);
}

function distinctBlockIds(blocks: readonly Kinded[], ctx: z.RefinementCtx): void {
  const seen = new Set<string>();
  blocks.forEach(({ block_id }, index) => {
    if (block_id === undefined) return;
    if (seen.has(block_id)) {
      const message = `block_id "${block_id}" already exists`;
      ctx.addIssue(broken('duplicate_block_id', message, [index, 'block_id']));
    }
    seen.add(block_id);
  });
}

function distinctActionIds(block: Kinded, index: number, ctx: z.RefinementCtx): void {
  const seen = new Set<string>();
  for (const id of actionIds(block)) {
    if (seen.has(id)) {
      const message = `action_id "${id}" already exists for another element`;
      ctx.addIssue(broken('duplicate_action_id', message, [index]));
    }
    seen.add(id);
  }
}

function actionIds(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(actionIds);
  if (typeof value !== 'object' || value === null) return [];
  const own = 'action_id' in value && typeof value.action_id === 'string' ? [value.action_id] : [];
  return [...own, ...Object.values(value).flatMap(actionIds)];
}

function atMost(most: number, type: string, blocks: readonly Kinded[], ctx: z.RefinementCtx): void {
  if (blocks.filter((block) => block.type === type).length <= most) return;
  ctx.addIssue(broken(`too_many_${type}`, `no more than ${most} blocks of type ${type} allowed`));
}

function charsOf(
  type: string,
  most: number,
  blocks: readonly Kinded[],
  ctx: z.RefinementCtx,
): void {
  const all = blocks.filter((block) => block.type === type);
  if (all.reduce((sum, block) => sum + tableChars(block), 0) <= most) return;
  ctx.addIssue(broken(`${type}_too_long`, `all ${type} blocks together exceed ${most} characters`));
}
