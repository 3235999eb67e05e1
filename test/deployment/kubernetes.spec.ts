import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.js';
import { SETTING_KEYS, variableName } from '../../src/config/settings.js';
import { dockerFile, type Loose, manifests } from './files.js';
import { schemaProblems, unknownFields } from './kubernetes-schema.js';

const files = manifests();
// The first belongs to kustomize, the second to the Prometheus Operator: neither is in Kubernetes' own schema.
const FOREIGN = new Set(['kustomization.yaml', 'pod-monitor.yaml']);
const own = new Map([...files].filter(([name]) => !FOREIGN.has(name)));
const manifest = (name: string): Loose => files.get(`${name}.yaml`);

const pods = manifest('deployment').spec.template;
const [container] = pods.spec.containers;
const labels = pods.metadata.labels;

describe("Kubernetes' published schema", () => {
  it.each([...own.keys()])('has nothing against docker/kubernetes/%s', async (name) => {
    expect(await schemaProblems(own.get(name))).toEqual([]);
  });

  it('knows every field of the manifests', () => {
    expect(unknownFields(own)).toEqual([]);
  }, 60_000);

  it('would notice a wrong type and a misspelt field', async () => {
    const wrong = structuredClone(manifest('deployment'));
    wrong.spec.template.spec.containers[0].ports[0].containerPort = '8080';
    expect(await schemaProblems(wrong)).toEqual([expect.stringContaining('must be integer')]);
    const misspelt = structuredClone(manifest('deployment'));
    misspelt.spec.template.spec.terminationGracePeriod = 45;
    expect(unknownFields(new Map([['misspelt', misspelt]]))).toEqual([
      expect.stringMatching(/"terminationGracePeriod".* does not exist/),
    ]);
  }, 60_000);
});

describe('the pods of docker/kubernetes', () => {
  it('get a configuration that the server takes, with the share that protects tenants from scans', () => {
    const { data } = manifest('configmap');
    const parsed = parseConfig({
      ...data,
      TIDB_MCP_HOST: '0.0.0.0',
      TIDB_MCP_CONTROL_DB_URL: 'mysql://user:password@db.example.com:4000/tidb_mcp?ssl=true',
      TIDB_MCP_ADMIN_TOKEN: 'a-secret-of-the-operator',
    });
    expect(parsed).toMatchObject({ ok: true, warnings: [] });
    if (parsed.ok) expect(parsed.config).toMatchObject({ trustedProxyDepth: 1, globalUnprovenShare: 0.5 });
  });

  it('get every secret by reference, and no other way', () => {
    const known = new Set(SETTING_KEYS.map(variableName));
    for (const { name, value, valueFrom } of container.env) {
      expect([name, known.has(name), value]).toEqual([name, true, undefined]);
      expect(valueFrom.secretKeyRef.name).toBe('tidb-cloud-mcp');
    }
    const optional = container.env.filter(({ valueFrom }: Loose) => valueFrom.secretKeyRef.optional);
    expect(container.env.length - optional.length).toBe(2);
    const open = Object.keys(manifest('configmap').data);
    expect(open.filter((name) => /TOKEN|KEY|DB_URL/.test(name))).toEqual([]);
    expect([...files.values()].map(({ kind }) => kind)).not.toContain('Secret');
  });

  it('are asked for life and readiness where the server answers each', () => {
    const { startupProbe, livenessProbe, readinessProbe, ports } = container;
    expect(ports).toEqual([{ name: 'http', containerPort: 8080 }]);
    expect(dockerFile('Dockerfile')).toContain('EXPOSE 8080');
    for (const probe of [startupProbe, livenessProbe])
      expect(probe.httpGet).toEqual({ path: '/health/live', port: 'http' });
    expect(readinessProbe.httpGet).toEqual({ path: '/health/ready', port: 'http' });
    // Noticed within the grace, in which calls are still served.
    const grace = Number(manifest('configmap').data.TIDB_MCP_SHUTDOWN_GRACE_SECONDS);
    expect(readinessProbe.periodSeconds * readinessProbe.failureThreshold).toBeLessThan(grace);
  });

  it('have time for the grace, running calls and the last counts before they are killed', () => {
    const grace = Number(manifest('configmap').data.TIDB_MCP_SHUTDOWN_GRACE_SECONDS);
    expect(pods.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(Math.max(35, grace + 20 + 5 + 5));
  });

  it('run as nobody in particular, without rights, on a file system that they cannot write to', () => {
    const user = /^USER (\d+):(\d+)$/m.exec(dockerFile('Dockerfile'));
    expect(pods.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: Number(user?.[1]),
      runAsGroup: Number(user?.[2]),
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pods.spec.automountServiceAccountToken).toBe(false);
    expect(container.resources).toMatchObject({ requests: { cpu: '250m' }, limits: { memory: '768Mi' } });
  });

  it('are all reached by one label', () => {
    const selectors = [
      manifest('deployment').spec.selector.matchLabels,
      manifest('service').spec.selector,
      manifest('network-policy').spec.podSelector.matchLabels,
      manifest('disruption-budget').spec.selector.matchLabels,
      manifest('pod-monitor').spec.selector.matchLabels,
    ];
    expect(selectors).toEqual(selectors.map(() => labels));
    const { scaleTargetRef, minReplicas } = manifest('autoscaler').spec;
    expect([scaleTargetRef.kind, scaleTargetRef.name, minReplicas]).toEqual(['Deployment', 'tidb-cloud-mcp', 2]);
    expect(manifest('deployment').spec.replicas).toBeUndefined();
  });

  it('are reached by the gateway of the route and by Prometheus, and by nothing else', () => {
    const { ingress, policyTypes } = manifest('network-policy').spec;
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    const callers = ingress.flatMap(({ from }: Loose) => from);
    // A selector of a namespace alone, or none, would let in whoever is there.
    for (const caller of callers) expect(Object.keys(caller).sort()).toEqual(['namespaceSelector', 'podSelector']);
    const [{ name, namespace }] = manifest('route').spec.parentRefs;
    expect(callers.map(({ podSelector }: Loose) => podSelector.matchLabels)).toEqual([
      {
        'gateway.envoyproxy.io/owning-gateway-name': name,
        'gateway.envoyproxy.io/owning-gateway-namespace': namespace,
      },
      { 'app.kubernetes.io/name': 'prometheus' },
    ]);
    expect(manifest('service').spec.type).toBe('ClusterIP');
  });

  it('show callers neither metrics nor health nor the console', () => {
    const [{ matches, backendRefs, timeouts }] = manifest('route').spec.rules;
    expect(matches.map(({ path }: Loose) => path.value)).toEqual([
      '/mcp',
      '/v1',
      '/docs',
      '/openapi.json',
      '/.well-known/oauth-protected-resource',
    ]);
    const [{ port }] = manifest('service').spec.ports;
    expect(backendRefs).toEqual([{ name: manifest('service').metadata.name, port }]);
    expect(timeouts).toEqual({ request: '90s' });
  });

  it('are all in the kustomization, but for what needs an operator', () => {
    const listed = manifest('kustomization').resources as string[];
    expect(listed.sort()).toEqual([...own.keys()].sort());
    const [image] = manifest('kustomization').images;
    expect(container.image).toBe(image.name);
  });

  it('are scraped with their own secret (the operator has no published schema here: by its documented fields)', () => {
    const { podMetricsEndpoints } = manifest('pod-monitor').spec;
    expect(podMetricsEndpoints).toHaveLength(1);
    const [{ port, path, authorization, relabelings }] = podMetricsEndpoints;
    expect([port, path]).toEqual(['http', '/metrics']);
    const token = container.env.find(({ name }: Loose) => name === 'TIDB_MCP_ADMIN_TOKEN').valueFrom.secretKeyRef;
    expect(authorization.credentials).toEqual(token);
    expect(relabelings).toEqual([{ targetLabel: 'job', replacement: 'tidb-cloud-mcp' }]);
  });
});
