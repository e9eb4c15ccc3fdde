import { createCloudReads } from '../../src/cloud/reads/cloud-reads.ts';
import { NO_READS } from '../../src/http/optional/capabilities.ts';
import type { CommandContext } from '../../src/intent/ports/command-context.ts';

/** The optional reads with `cloud.reads: contract`. A request fails the test. */
export const READS_OFF: CommandContext['reads'] = {
  cloud: createCloudReads(() => Promise.reject(new Error('Contract mode sends no optional read')), {
    ...{ ...NO_READS, organizationId: 'o1', keyId: 'k1', dates: 'auto' },
  }),
  alerts: null,
};
