import type { PipeSeed } from './shapes.ts';

/** The settings of the contract's example; the contract has no other settings. */
export const EXAMPLE_SETTINGS = {
  streaming_max_insert_wait_ms: 5_000,
  object_storage_concurrency: 1,
  object_storage_polling_interval_ms: 30_000,
  object_storage_max_insert_bytes: 10_737_418_240,
  object_storage_max_file_count: 100,
  engine_max_threads: 8,
  engine_max_insert_threads: 1,
  engine_min_insert_block_size_bytes: 1_073_741_824,
  engine_max_download_threads: 4,
  engine_parallel_distributed_insert_select: 2,
  object_storage_use_cluster_function: true,
  engine_parallel_view_processing: false,
};

export const PIPES: readonly PipeSeed[] = [
  {
    ...{ name: 'orders', id: '9a3b6c1d-2e4f-4a5b-8c7d-1e2f3a4b5c6d', service: 'analytics-prod' },
    ...{ family: 'streaming', dailyCredits: { compute: 4.8, transfer: 1.9 } },
    settings: EXAMPLE_SETTINGS,
  },
  {
    ...{ name: 'clicks', id: '573edb01-6d55-440c-929f-443f913e694a', service: 'analytics-prod' },
    ...{ family: 'streaming', dailyCredits: { compute: 6.1, transfer: 3.3 } },
    // `stream_read_committed` is not in the contract, but live servers return such settings.
    settings: {
      ...{ ...EXAMPLE_SETTINGS, object_storage_concurrency: 35, stream_read_committed: true },
      object_storage_max_insert_bytes: 53_687_091_200,
    },
  },
  {
    ...{ name: 'customers-copy', id: '902b0c24-6fa5-4aae-bdf0-e9ed8e57b608' },
    ...{ service: 'analytics-prod', family: 'database', settings: null },
    dailyCredits: { compute: 1.2, transfer: 0.2 },
  },
  {
    ...{ name: 'events-eu', id: 'a2bdd77f-5f90-47f4-bc2c-916ba56721d6', service: 'analytics-eu' },
    ...{ family: 'object storage', dailyCredits: { compute: 2.7, transfer: 1.1 } },
    settings: {
      ...{ ...EXAMPLE_SETTINGS, streaming_max_insert_wait_ms: null, engine_max_threads: null },
      engine_parallel_view_processing: null,
    },
  },
  {
    ...{ name: 'experiments', id: 'f7325132-98e0-4c99-a868-28c2af2bec64' },
    ...{ service: 'analytics-dev', family: 'streaming' },
    dailyCredits: { compute: 0.4, transfer: 0.1 },
    settings: { ...EXAMPLE_SETTINGS, engine_max_threads: 0 },
  },
  {
    ...{ name: 'old-imports', id: '1d456e82-c4d6-4154-a564-033c3cb1d549', service: 'archive' },
    ...{ family: 'object storage', dailyCredits: { compute: 0, transfer: 0 } },
    settings: EXAMPLE_SETTINGS,
  },
];
