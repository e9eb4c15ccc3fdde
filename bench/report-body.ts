import { API_METRICS } from '../src/servers/cloud-replies.ts';

const DAYS = Array.from({ length: 31 }, (_, day) => `2026-10-${String(day + 1).padStart(2, '0')}`);

/** The reply of the usage report for October 2026, with one row for each day and service. */
export function reportBody(services: number): string {
  const metrics = Object.fromEntries(API_METRICS.map((name) => [name, 0.1]));
  const costs = DAYS.flatMap((date) =>
    Array.from({ length: services }, (_, index) => ({
      dataWarehouseId: `warehouse-${index % 40}`,
      serviceId: `service-${index}`,
      date,
      entityId: `service-${index}`,
      entityName: `team-${index}`,
      entityType: 'service',
      metrics,
      totalCredits: 1,
      locked: true,
    })),
  );
  const result = { grandTotalCredits: costs.length, costs };
  return JSON.stringify({ status: 200, requestId: 'bench', result });
}
