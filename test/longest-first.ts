import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Stories that wait for most of their time, the longest first. */
const WAITING = [
  'chaos/database-away',
  'chaos/rolling',
  'chaos/traces',
  'scenarios/alerts',
  'scenarios/watch',
  'scenarios/follow',
  'chaos/leaving',
  'scenarios/shown-by-reads',
  'scenarios/locked-database',
  'scenarios/channels-moved',
].map((name) => `/test/${name}.test.ts`);
const OTHERS = ['browser', 'bot'];

const isWaiting = ({ moduleId }: TestSpecification): boolean =>
  WAITING.some((path) => moduleId.endsWith(path));

const rankOf = ({ project }: TestSpecification): number => OTHERS.indexOf(project.name);

/**
 * Starts the stories first and the quick tests last, each the longest first, so that no long file runs alone at the end.
 * Stories that wait are spread over the others, so that busy ones run in the other workers.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const stories = sorted.filter(({ project }) => project.name === 'stories');
    const others = sorted.filter(({ project }) => project.name !== 'stories');
    const ranked = others.toSorted((one, other) => rankOf(one) - rankOf(other));
    return [...spread(stories), ...ranked];
  }
}

/** One file that waits before each part of the busy ones. */
function spread(stories: readonly TestSpecification[]): TestSpecification[] {
  const waiting = WAITING.flatMap((path) =>
    stories.filter(({ moduleId }) => moduleId.endsWith(path)),
  );
  const busy = stories.filter((file) => !isWaiting(file));
  if (waiting.length === 0) return busy;
  const size = Math.ceil(busy.length / waiting.length);
  return waiting.flatMap((file, index) => [file, ...busy.slice(index * size, (index + 1) * size)]);
}
