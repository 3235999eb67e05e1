import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { ReadBody } from './body.pipe.js';
import { callerOf } from './caller-of.js';
import { OperationRunner } from './operation-runner.service.js';
import type { Operation } from './operation.js';
import { capabilitiesOperation } from './operations/capabilities.operation.js';
import { confirmOperation } from './operations/confirm.operation.js';
import { getBranchOperation } from './operations/get-branch.operation.js';
import { getClusterOperation } from './operations/get-cluster.operation.js';
import { listBackupsOperation } from './operations/list-backups.operation.js';
import { listBranchesOperation } from './operations/list-branches.operation.js';
import { listClustersOperation } from './operations/list-clusters.operation.js';
import { listProjectsOperation } from './operations/list-projects.operation.js';
import { listRegionsOperation } from './operations/list-regions.operation.js';
import { preflightOperation } from './operations/preflight.operation.js';
import { writeOutput } from './rest-answer.adapter.js';
import { routeInput, type RouteInput } from './route-input.js';
import { ServesOperation } from './serves-operation.decorator.js';

/** The REST surface: one route for each operation. Contract: "Surfaces". */
@Controller('v1')
export class V1Controller {
  private readonly inputs = new Map<Operation, RouteInput>();

  constructor(@Inject(OperationRunner) private readonly runner: OperationRunner) {}

  @ServesOperation(capabilitiesOperation)
  getCapabilities(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.serve(capabilitiesOperation, request, reply);
  }

  @ServesOperation(listProjectsOperation)
  listProjects(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.serve(listProjectsOperation, request, reply);
  }

  @ServesOperation(listRegionsOperation)
  listRegions(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.serve(listRegionsOperation, request, reply);
  }

  @ServesOperation(listClustersOperation)
  listClusters(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.serve(listClustersOperation, request, reply);
  }

  @ServesOperation(getClusterOperation)
  getCluster(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.serve(getClusterOperation, request, reply);
  }

  @ServesOperation(listBranchesOperation)
  listBranches(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.serve(listBranchesOperation, request, reply);
  }

  @ServesOperation(getBranchOperation)
  getBranch(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.serve(getBranchOperation, request, reply);
  }

  @ServesOperation(listBackupsOperation)
  listBackups(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return this.serve(listBackupsOperation, request, reply);
  }

  @ServesOperation(preflightOperation)
  preflight(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @ReadBody() body: unknown) {
    return this.serve(preflightOperation, request, reply, body);
  }

  @ServesOperation(confirmOperation)
  confirm(@Req() request: FastifyRequest, @Res() reply: FastifyReply, @ReadBody() body: unknown) {
    return this.serve(confirmOperation, request, reply, body);
  }

  private serve<I extends z.ZodObject, O extends z.ZodObject>(
    operation: Operation<I, O>,
    request: FastifyRequest,
    reply: FastifyReply,
    body?: unknown,
  ): void | Promise<void> {
    const raw = this.inputOf(operation).read(request.params, request.query, body);
    const output = this.runner.run(operation, callerOf(request.raw), raw);
    if (output instanceof Promise) return output.then((answer) => writeOutput(reply, operation, answer));
    writeOutput(reply, operation, output);
  }

  private inputOf(operation: Operation): RouteInput {
    const known = this.inputs.get(operation);
    if (known !== undefined) return known;
    const made = routeInput(operation);
    this.inputs.set(operation, made);
    return made;
  }
}
