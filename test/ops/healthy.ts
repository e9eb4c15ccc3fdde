/** The state of a process without problems, for the metrics. */
export const HEALTHY = {
  isWritable: async () => true,
  isConnected: () => true,
  configuration: () => 'c1',
};
