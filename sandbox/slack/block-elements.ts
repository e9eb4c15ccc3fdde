import { isJson, type Json, stringOf } from '../json.ts';
import { elementsIn } from './input-state.ts';
import { newId } from './state.ts';

const interactive = new Set([
  ...['button', 'overflow', 'plain_text_input', 'number_input'],
  ...['static_select', 'external_select', 'conversations_select'],
]);

/** The blocks as Slack stores them: every block and element has an id, texts have their flags. */
export function withIds(blocks: readonly Json[]): Json[] {
  return blocks.map((block) => ({ block_id: newId('b'), ...withDefaults(block) }));
}

function withDefaults(value: Json): Json {
  const fields = Object.entries(value).map(([key, one]) => [key, completeValue(one)]);
  return { ...defaultsOf(stringOf(value.type)), ...Object.fromEntries(fields) };
}

function completeValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(completeValue);
  return isJson(value) ? withDefaults(value) : value;
}

function defaultsOf(type: string): Json {
  if (type === 'plain_text') return { emoji: true };
  if (type === 'mrkdwn') return { verbatim: false };
  return interactive.has(type) ? { action_id: newId('a') } : {};
}

export function elementAt(
  blocks: readonly Json[],
  blockId: string,
  actionId: string,
): Json | undefined {
  const sameAction = elementsIn(blocks).filter(({ element }) => element.action_id === actionId);
  return sameAction.find((one) => one.blockId === blockId)?.element;
}
