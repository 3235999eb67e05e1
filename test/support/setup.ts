import 'reflect-metadata';
import fc from 'fast-check';

// What lands is judged by the same examples each time; everywhere else properties look for new ones.
if (process.env['CI'] !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_130 });
