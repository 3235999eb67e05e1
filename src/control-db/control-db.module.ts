import { Module } from '@nestjs/common';
import { ControlDatabaseService } from './control-database.service.js';

/** The control database, for whoever keeps something in it. */
@Module({ providers: [ControlDatabaseService], exports: [ControlDatabaseService] })
export class ControlDbModule {}
