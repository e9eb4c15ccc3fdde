import type { Stage } from './stage.ts';
import { ANA } from './stage.ts';

export const STAGING = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';
export const ANALYTICS = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';
export const empty = { text: '', blocks: [] };

/** Requests a change of staging, which needs one approval, and returns its card. */
export async function ask(stage: Stage, as = ANA, line = '/service stop staging for the night') {
  await stage.slack.command(as, 'ops', line);
  const preview = await stage.privateWord(as, 'staging?');
  await stage.press(as, preview, 'change.confirm');
  const verb = /^\/service (\w)(\w*)/.exec(line) ?? [];
  return stage.card(`${verb[1]?.toUpperCase()}${verb[2]} staging: waiting for approval`);
}
