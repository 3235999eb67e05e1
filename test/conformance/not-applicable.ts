/** Checks that cannot pass here, and the reason that they share. */
export interface NotApplicable {
  readonly because: string;
  /** Scenarios as a whole, or `scenario: check` where the others of it do apply. */
  readonly checks: readonly string[];
}

/** Everything of the official suite that does not apply to this server; what is not listed has to pass. */
export const NOT_APPLICABLE: readonly NotApplicable[] = [
  {
    because:
      'The scenario calls a tool of a test server by its name (test_simple_text and the like), which we do not have.',
    checks: [
      'tools-call-simple-text',
      'tools-call-image',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-mixed-content',
      'tools-call-with-logging',
      'tools-call-with-progress',
      'tools-call-error',
      'tools-call-sampling',
      'tools-call-elicitation',
      'json-schema-2020-12',
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
      'http-custom-header-server-validation',
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
      'server-stateless: sep-2575-server-rejects-undeclared-capability',
      'server-stateless: sep-2575-missing-capability-http-400',
      'server-stateless: sep-2575-http-server-no-independent-requests-on-stream',
      'server-stateless: sep-2575-server-no-log-without-loglevel',
    ],
  },
  {
    because: 'This server has tools alone and declares no prompts: the method is not found, as the protocol has it.',
    checks: [
      'prompts-list',
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
      'input-required-result-non-tool-request',
      'caching: sep-2549-prompts-list-caching-hints',
    ],
  },
  {
    because: 'It declares no resources.',
    checks: [
      'resources-list',
      'resources-read-text',
      'resources-read-binary',
      'resources-templates-read',
      'resources-subscribe',
      'resources-unsubscribe',
      'caching: sep-2549-resources-list-caching-hints',
      'caching: sep-2549-resources-templates-list-caching-hints',
    ],
  },
  { because: 'It declares no completions.', checks: ['completion-complete'] },
  {
    because: 'It declares no logging: there is no session that a level could belong to.',
    checks: ['logging-set-level'],
  },
];
