import type { CommandContext } from '../../src/commands/index.ts';
import { createCloudReads } from '../../src/servers/cloud-reads.ts';
import { NO_READS } from '../../src/servers/optional-reads.ts';

/** The optional reads with `cloud.reads: contract`. A request fails the test. */
export const READS_OFF: CommandContext['reads'] = {
  cloud: createCloudReads(() => Promise.reject(new Error('Contract mode sends no optional read')), {
    ...{ ...NO_READS, organizationId: 'o1', keyId: 'k1', dates: 'auto' },
  }),
  alerts: null,
};
