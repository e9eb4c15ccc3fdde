import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that wait for most of their time, so that they take longer than their size suggests. */
const WAITING = ['chaos/database-away', 'chaos/rolling'];
const PROJECTS = ['stories', 'browser', 'bot'];

const rankOf = ({ project, moduleId }: TestSpecification): number => {
  const isWaiting = WAITING.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return PROJECTS.indexOf(project.name) * 2 + (isWaiting ? 0 : 1);
};

/** Starts the files that wait first and the quick ones last, so that no long file runs alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
