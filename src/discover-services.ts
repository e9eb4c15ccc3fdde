import type { CloudReads } from './cloud/reads/cloud-reads.ts';
import type { Service } from './domain/targets.ts';
import type { OpenedDirectory } from './open-directory.ts';

const EVERY_MS = 60_000;
const RETRY_MS = 15_000;

interface DiscoveryOptions {
  readonly reads: Pick<CloudReads, 'services'>;
  readonly directory: Pick<OpenedDirectory, 'services' | 'learnList' | 'withList'>;
  /** False with `cloud.reads: contract`: nothing is read. */
  readonly isOn: boolean;
  /** Nothing is read before this is true. */
  readonly isReady: () => boolean;
  readonly now: () => Date;
}

interface ServiceDiscovery {
  /** A pass that reads the list of services once per minute, with the lowest priority. */
  readonly pass: () => Promise<number>;
  /** Reads the list now. Without an answer, nothing is known about discovered services. */
  readonly verify: () => Promise<readonly Service[]>;
}

/** Keeps the directory equal to the list of services of a live server. */
export function createDiscovery(options: DiscoveryOptions): ServiceDiscovery {
  const { reads, directory, isOn, isReady, now } = options;
  let nextAt = 0;
  return {
    pass: async () => {
      if (!isOn || !isReady() || now().getTime() < nextAt) return 0;
      nextAt = now().getTime() + EVERY_MS;
      const read = await reads.services();
      // The request budget may be used up: the next window has places again.
      if (!read.known && read.gap === 'no-answer') nextAt = now().getTime() + RETRY_MS;
      if (!read.known) return 0;
      directory.learnList(read.value, read.readAt);
      // Counted from the read: a cached list is almost a minute old already.
      nextAt = read.readAt.getTime() + EVERY_MS;
      return 0;
    },
    verify: async () => {
      if (!isOn) return directory.services();
      const read = await reads.services({ fresh: true, waiting: true });
      if (!read.known) return directory.withList(null);
      directory.learnList(read.value, read.readAt);
      return directory.withList(read.value);
    },
  };
}
