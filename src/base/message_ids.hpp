// SPDX-License-Identifier: LGPL-2.1-or-later
// Defines a fixed id for each kind of journal entry, so that people can search for the entries of one kind. units/pinfold.catalog
// contains the text that explains each kind of entry.
#pragma once

namespace pinfold {

constexpr const char* kMessageJobStarted = "c0f8792efdfb4120b4e909c76b3b9dc5";
constexpr const char* kMessageJobEnded = "779999fde6b24118a35635a30162bb5d";
constexpr const char* kMessageReceiptAmended = "2f4b7c61d7e84c0f9d6f0a5f0f3d8c1e";
constexpr const char* kMessageLeftovers = "f32b1973b3a04ad7986868ce9c3a22a7";
constexpr const char* kMessageLeftover = "a9a6a11556064168aed22959280b908e";
constexpr const char* kMessageLimitUnenforced = "c6815ca417d148ddbc888fa3a3260ebc";
constexpr const char* kMessageUnkillable = "49c2960e835d452e922aaf0c56676851";
constexpr const char* kMessageUnkillableProcess = "f48a1ffa9245415696a17a3db35fd359";
constexpr const char* kMessageConfigRejected = "14972265717543f790ff665945f14cad";
constexpr const char* kMessageRunUnconfined = "c7022423c2614349afc3df64d57013d2";
constexpr const char* kMessageLimitsChanged = "d6d6f3216c004ef1b6fc0fe138df634a";
constexpr const char* kMessageSuspended = "3747447547274e6b95e531ffcdd993e4";
constexpr const char* kMessageResumed = "ff8cc4fc236340608aee58b8e92089d4";
constexpr const char* kMessageOutOfMemory = "dbd31de9f9f348659f81f8e3fe981b37";
constexpr const char* kMessageLimitNear = "5b0c1f6e8a3d4d2c9e7f41d2b6a80c35";
constexpr const char* kMessageDrained = "6f00b16ce6984e239a8697ae306000b4";
constexpr const char* kMessageUndrained = "bb0fdc7594844c51ad27678722bda711";
constexpr const char* kMessageOrphan = "ef151ed803ff43799557af9792ee1a68";
constexpr const char* kMessageHistoryVacuumed = "0bf03b2d313140b893115890731cd5a4";
constexpr const char* kMessageShutdown = "7e0b4a5c2f3d4f7c9b61d8a0c4e2f951";
constexpr const char* kMessageStray = "781d29d05b0941cfa63c23e315500cce";
constexpr const char* kMessageStraysRefused = "c932b759e96f444db937cd6da477f5fb";
constexpr const char* kMessageLeftoverRemoved = "db6cf2c76eb94d1cb6d01f754967a0ff";

} // namespace pinfold
