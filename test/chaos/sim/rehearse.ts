import type { Crash } from './ports.ts';
import type { Story } from './stories.ts';
import { openTheatre } from './theatre.ts';

export interface Rehearsed {
  readonly story: string;
  readonly crash: Crash | null;
  readonly portCalls: number;
  readonly sent: number;
  readonly wrong: readonly string[];
}

/** Plays a story whose process dies there; others take over, and everything comes to rest. */
export async function rehearse({ name, play }: Story, crash: Crash | null): Promise<Rehearsed> {
  const theatre = await openTheatre();
  try {
    if (crash) theatre.plan(crash);
    await play(theatre);
    const portCalls = theatre.portCalls().length;
    await theatre.calm();
    const sent = theatre.server.deliveries().length;
    return { story: name, crash, portCalls, sent, wrong: await theatre.wrong() };
  } finally {
    await theatre.close();
  }
}

/** Every place at which the process of a story can die. */
export async function crashesOf(story: Story): Promise<readonly Crash[]> {
  const { portCalls } = await rehearse(story, null);
  return Array.from({ length: portCalls }, (_, index) => index + 1).flatMap((at) => [
    { at, when: 'before' },
    { at, when: 'after' },
  ]);
}
